package configs_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"approver.example/configs"
	"approver.example/store/redisstore"
)

// Every setting that names a file or folder is resolved; a new one that was
// forgotten shows here.
func TestResolveKnowsEveryPath(t *testing.T) {
	isolate(t)
	var c configs.Config
	fill(reflect.ValueOf(&c).Elem(), "")
	before := fmt.Sprint(c.Store.Sqlite, c.Store.Bolt, c.Store.Redis, c.Channels.Telegram)
	r, err := c.Resolve("/base")
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	visit(reflect.ValueOf(r), "", func(key, value string) {
		seen++
		if value != "/base/rel" {
			t.Errorf("%s was not resolved: %q", key, value)
		}
	})
	if seen < 15 {
		t.Errorf("only %d paths", seen)
	}
	if after := fmt.Sprint(c.Store.Sqlite, c.Store.Bolt, c.Store.Redis, c.Channels.Telegram); after != before {
		t.Error("Resolve changed the configuration that it was given")
	}
}

func isPath(key string) bool {
	name := key[strings.LastIndexByte(key, '.')+1:]
	return strings.HasSuffix(name, "_file") || name == "dir" || name == "path" || name == "policy" || name == "submit" ||
		name == "resolve"
}

// fill sets every path in a configuration to "rel".
func fill(v reflect.Value, key string) {
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), key)
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				fill(v.Field(i), key+"."+yamlName(v.Type().Field(i)))
			}
		}
	case reflect.String:
		if isPath(key) {
			v.SetString("rel")
		}
	default:
	}
}

func visit(v reflect.Value, key string, each func(key, value string)) {
	switch v.Kind() {
	case reflect.Pointer:
		visit(v.Elem(), key, each)
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				visit(v.Field(i), key+"."+yamlName(v.Type().Field(i)), each)
			}
		}
	case reflect.String:
		if isPath(key) {
			each(key, v.String())
		}
	default:
	}
}

func yamlName(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
	return name
}

// A secret that comes from elsewhere is not taken for a path; a folder of such a
// name is one.
func TestResolveLeavesOtherPlacesOfSecrets(t *testing.T) {
	c := configs.Config{Dir: "env:x", Sockets: configs.Sockets{Submit: "/s", Resolve: "/r"},
		Store: configs.Store{Redis: &redisstore.Config{HubKeyFile: "credential:hub", PasswordFile: "env:REDIS",
			SentinelPasswordFile: "p"}}}
	got, err := c.Resolve("/base")
	if r := got.Store.Redis; err != nil || got.Dir != "/base/env:x" || r.HubKeyFile != "credential:hub" ||
		r.PasswordFile != "env:REDIS" || r.SentinelPasswordFile != "/base/p" {
		t.Errorf("%+v, %v", got, err)
	}
}

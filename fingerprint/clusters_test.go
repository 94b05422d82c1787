//go:build unix

package fingerprint

import (
	"maps"
	"strings"
	"testing"
)

// What the words of kubectl create say is all that it creates: it keeps a grant. What comes from
// a file or a folder is bound, and an image has a name.
func TestWhatKubectlCreatesOfItsWords(t *testing.T) {
	for _, command := range []string{
		"kubectl create configmap a --from-literal=x=y", "kubectl create secret generic a --from-literal x=y",
		"kubectl create ns a", "kubectl create namespace a", "kubectl -n x create ns a",
		"oc create secret generic a --from-literal=a=b",
		"kubectl create role r --verb=get --resource=pods", "kubectl create sa a", "kubectl create token a",
		"kubectl create rolebinding a --role=b --user=c", "kubectl create ingress a --rule=a/b=c:1",
		"kubectl create quota a --hard=cpu=1", "kubectl create service clusterip a --tcp=1:2", "kubectl create cm a",
	} {
		p := newPlayground(t, "q")
		if names := p.unbound(command); len(names) > 0 {
			t.Errorf("%s: %q", command, names)
		}
	}
	for command, want := range map[string]string{
		"kubectl create": "kubectl create runs", "kubectl create job a --image=x": "runs",
		"kubectl create deployment ns --image=x": "runs", "kubectl create secret generic $X --from-literal=a=b": "runs",
		"kubectl create configmap a --from-file=none": "runs", "kubectl create -f none.yaml ns": "runs",
		"kubectl exec -f x.yaml -- ls": "elsewhere", "kubectl exec --filename=x.yaml -- ls": "elsewhere",
		"kubectl exec -fx.yaml -c w -- sh -c ls": "elsewhere", "oc exec -f x.yaml -it -- ls": "elsewhere",
		"chroot /x ls": "another root", "nsenter -t 1 -m ls": "another root", "nsenter -at 1 sh -c ls": "another root",
		"sudo nsenter --target 1 --mount -- ls": "another root", "nsenter -t 1 --all ls": "another root",
		"bwrap --bind /x / ls": "another root", "machinectl shell x ls": "another root",
		"unshare --root=/x ls":                 "another root",
		"docker exec -e LD_PRELOAD=/x.so a ls": "elsewhere", "docker exec -ite X=1 a ls": "elsewhere",
	} {
		p := newPlayground(t, "x.yaml")
		if names := strings.Join(p.unbound(command), "\n"); !strings.Contains(names, want) {
			t.Errorf("%s: %q", command, names)
		}
	}
	for _, command := range []string{"nsenter -t 1 -n ls", "ip netns exec x ls", "docker exec a ls", "unshare -n ls"} {
		p := newPlayground(t)
		if names := p.unbound(command); len(names) > 0 {
			t.Errorf("%s: %q", command, names)
		}
	}
}

// A folder of which a config map is made counts with all that is in it.
func TestAConfigMapOfAFolder(t *testing.T) {
	for _, command := range []string{"kubectl create configmap a --from-file=d", "kubectl create cm a --from-file k=d/",
		"oc create secret generic a --from-file=d/x.txt --from-file=d"} {
		p := newPlayground(t, "d/a.yaml", "d/x.txt")
		before := p.of(command)
		p.write("d/x.txt", "swapped")
		if maps.Equal(before, p.of(command)) || len(p.unbound(command)) > 0 {
			t.Errorf("%s: %q", command, p.unbound(command))
		}
	}
}

package audit
import ("testing";"sync";"sync/atomic";"os";"path/filepath";"time")
func TestZZ(t *testing.T){
 key,_:=testKey(t)
 for _, w := range []int{1,64} {
 var syncs atomic.Int64; var dur atomic.Int64
 l:=open(t,Options{Dir:filepath.Join(t.TempDir(),"log"),ID:"b",Key:key,Redact:asIs,sync:func(f *os.File)error{syncs.Add(1);s:=time.Now();e:=syncFile(f);dur.Add(int64(time.Since(s)));return e}})
 n:=4000; if w==64 {n=60000}
 var left atomic.Int64; left.Store(int64(n))
 s:=time.Now()
 var wg sync.WaitGroup
 for range w { wg.Go(func(){for i:=left.Add(-1);i>=0;i=left.Add(-1){record(t,l,benchRecord(i))}})}
 wg.Wait()
 el:=time.Since(s)
 t.Logf("w=%d n=%d %v/rec syncs=%d avg sync %v; per batch %.1f, sync share %.2f", w,n,el/time.Duration(n),syncs.Load(),time.Duration(dur.Load()/syncs.Load()),float64(n)/float64(syncs.Load()),float64(dur.Load())/float64(el))
 closeLog(t,l)
 }
}

package audit
import ("testing";"os";"path/filepath";"time")
func TestYY(t *testing.T){
 for _, sz := range []int{730, 26000, 47000, 100000} {
 f,_:=os.OpenFile(filepath.Join(t.TempDir(),"x"),os.O_WRONLY|os.O_APPEND|os.O_CREATE,0o600)
 b:=make([]byte,sz); for i:=range b {b[i]='a'+byte(i%20)}
 s:=time.Now(); for range 500 { f.Write(b); syncFile(f)}
 t.Logf("sz=%d %v",sz,time.Since(s)/500)
 }
}

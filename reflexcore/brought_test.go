package reflexcore_test

import (
	"testing"
)

// Settings without the hook lay in a folder of the repository, or in a difference, and came
// to the project by a pattern, a whole folder, a pipe or git. No word named them. What the
// pattern, the folder and the difference hold on the disk is now looked at.
func TestSettingsThatAreBroughtWithTheRest(t *testing.T) {
	e := ownMachine(t)
	stops(t, e, linesOf(`
cp -r bring/.??* .
cp -r bring/.[!.]* .
cp -r bring/.[a-z]* .
cp -r bring/.??* ~
cp -a bring/.[^.]* ./
shopt -s dotglob; cp -r bring/* .
shopt -s dotglob && rsync -a bring/* .
setopt globdots; cp -r bring/* .
GLOBIGNORE=x; cp -r bring/* .
bash -O dotglob -c 'cp -r bring/* .'
mv bring/.[!.]* ~
rsync -a bring/.??* .
(cd bring && tar cf - .) | tar xf -
tar cf - -C bring . | tar xf -
cd bring && find . -type f | cpio -pdum ..
cd bring; find . -depth -print0 | cpio -0pdu ..
find bring -mindepth 1 -maxdepth 1 -exec cp -r {} . \;
find bring -mindepth 1 -maxdepth 1 -exec cp -rt . {} +
find bring -mindepth 1 -maxdepth 1 | xargs -I{} cp -r {} .
ls -A bring | xargs -I{} cp -r bring/{} .
for f in bring/.[a-z]*; do cp -r $f .; done
for f in $(ls -A bring); do cp -r bring/$f .; done
python3 -c "import shutil;shutil.copytree('bring','.',dirs_exist_ok=True)"
python3 -c "import shutil;shutil.copytree('bring','/home/ada',dirs_exist_ok=True)"
python3 -c "from distutils.dir_util import copy_tree;copy_tree('bring','.')"
node -e "require('fs').cpSync('bring','.',{recursive:true})"
node -e "require('fs-extra').copySync('bring','.')"
ruby -e "require 'fileutils';FileUtils.cp_r('bring/.','.')"
git apply p.patch
git apply < p.patch
cat p.patch | git apply
git apply -p1 p.patch
git apply --3way p.patch
git apply -R p.patch
git am p.patch
git am < p.patch
patch -p1 < p.patch
patch -p1 -i p.patch
patch -p1 --input=p.patch
cat p.patch | patch -p1
patch < p.patch
patch -Np1 < p.patch
gpatch -p1 < p.patch
busybox patch -p1 < p.patch
git apply ./p.patch
cp p.patch q.patch && git apply q.patch
patch -p0 < p.patch
git apply <<'E'␤--- a/.claude/settings.json␤+++ b/.claude/settings.json␤@@ -1 +1 @@␤-{}␤+{"hooks":{}}␤E
git apply <<'E'␤diff --git a/x b/.claude/settings.json␤rename from x␤rename to .claude/settings.json␤E
git worktree add .claude other
git worktree add .codex x
git worktree add ~/.claude x
git submodule add https://x/y .claude
git submodule add u .codex
git subtree add --prefix .claude https://x/y main
tar --one-top-level=.claude --strip-components=1 -xf a.tar
tar --transform 's,^x,.claude,' -xf a.tar
tar -xf a.tar --xform=s/x/.claude/
python3 -m tarfile -e a.tar ~
python3 -m tarfile -e a.tar .claude
python3 -m zipfile -e a.zip ~
python3 -m zipfile -e a.zip .claude
cd ~ && jar xf a.jar
cd ~ && ar x a.a
degit a/b .claude
npx degit a/b .claude
cookiecutter x -o .claude
gh repo clone a/b .claude
svn export u .claude
hg clone u .claude
scp -r h:.claude .
docker cp c:/.claude .
npm pkg set --prefix .claude
grep -rlZ PreToolUse . | xargs -0 sed -i s/a/b/
cd bring && cp -r . ..
cp -r "$PWD"/bring/.??* "$PWD"
git apply --index p.patch
git apply --reject p.patch
git -C . apply p.patch
cd src && git apply ../p.patch
git am --3way p.patch
git am -3 < p.patch
patch -p1 -s < p.patch
patch -p1 -R < p.patch
patch -d . -p1 -i p.patch
patch -u -p1 -i ./p.patch
tee /dev/null < p.patch | patch -p1
sudo patch -p1 < p.patch
bash -c 'patch -p1 < p.patch'
F=p.patch; git apply $F
git apply *.patch
git apply ok.patch p.patch
for f in *.patch; do git apply $f; done
cp -r bring/.c?aude .
cp -r bring/.[c]laude .
cp -r bring/.claud* ~/
cp -rv bring/.cl* ./
cp -r ./bring/.[!.]* ./
cp -r /home/ada/shop/bring/.??* /home/ada/shop
cp -r b*/.??* .
cp -r b*/.claude .
cp -r */.claude .
mv b*/.claude .
D=bring; cp -r $D/.??* .
D=bring; cp -r $D/. .
cp -r $(pwd)/bring/.??* .
cd bring && cp -r .??* ..
cd bring && mv .??* ..
cd bring && mv .[!.]* ~
pushd bring; cp -r .??* ..; popd
(cd bring; cp -r .??* ..)
cd bring && tar cf - . | (cd .. && tar xf -)
tar -cf - -C bring . | tar -xf - -C .
tar -cC bring . | tar -x
tar c -C bring . | tar x -C ~
bsdtar cf - -C bring . | bsdtar xf -
rsync -a bring/ ~/
rsync -av bring/. .
rsync -a --include='.*' bring/ .
rsync -aR bring/./.claude .
install -d .claude && cp bring/.claude/* .claude
for d in bring/.*; do cp -r "$d" .; done
for d in $(find bring -maxdepth 1 -name '.*'); do cp -r "$d" .; done
find bring -maxdepth 1 -name '.*' -exec cp -r -t . {} +
find bring -maxdepth 1 | xargs cp -rt .
ls -A bring | xargs -I% cp -r bring/% ~
ls -A bring | while read f; do cp -r "bring/$f" .; done
find bring -maxdepth 1 -print0 | while IFS= read -r -d '' f; do mv "$f" .; done
python3 -c "import shutil,glob;[shutil.move(f,'.') for f in glob.glob('bring/.*')]"
python3 -c "import shutil,glob;[shutil.copytree(f,'./'+f) for f in glob.glob('bring/.*')]"
python3 -c "from shutil import copytree; copytree('bring','/home/ada/shop',dirs_exist_ok=True)"
python3 -c "import os;[os.rename('bring/'+f,f) for f in os.listdir('bring')]"
node -e "const fs=require('fs');fs.readdirSync('bring').forEach(f=>fs.renameSync('bring/'+f,f))"
node -e "require('fs').cp('bring','.',{recursive:true},()=>{})"
node -e "require('fs').promises.cp('bring','/home/ada',{recursive:true})"
ruby -e "require 'fileutils';FileUtils.cp_r(Dir.glob('bring/.*'),'.')"
ln -s bring/.??* .
ln -s $PWD/bring/.* ~
ln -sf ../shop/bring/.claude ~/.claude
cp -a bring/./ .
cp -r --parents bring/.claude .
sudo cp -r bring/.??* .
bash -c 'shopt -s dotglob; cp -r bring/* .'
bash -O dotglob -c 'mv bring/* .'
zsh -c 'setopt globdots; cp -r bring/* .'
fish -c 'cp -r bring/.* .'
busybox cp -r bring/. .
busybox cp -r bring/.??* .
cp -r bring/.{claude,x} .
cp -r bring/{.claude,.x} ~
cpio -pdm . < <(find bring)
gcp -r bring/. .
uv run cp -r bring/. .
robocopy bring . /E
pwsh -c 'Copy-Item -Recurse bring/.claude .'
`)...)
}

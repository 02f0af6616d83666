# An archive of a release that was changed after it.
. "${0%/*}/../hello-plan"
mkdir dist
echo plain >dist/hello.tar.gz
echo pgo >dist/hello-pgo.tar.gz
cat >dist/report.json <<'END'
{"artefacts": [{"name": "hello.tar.gz", "variant": "plain"}, {"name": "hello-pgo.tar.gz", "variant": "pgo"}]}
END
(cd dist && sha256sum hello.tar.gz hello-pgo.tar.gz >SHA256SUMS)
echo changed >dist/hello-pgo.tar.gz
code=0
whet bench dist 2>said || code=$?
sed "s|$PWD|HERE|g" said >&2
exit $code

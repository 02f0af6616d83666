"""The programs whose profiles are merged: how each is built from its Debian source, and how it is run
with an input that a number stands for."""

import os
import random
import subprocess

ENV = dict(os.environ, LLVM_PROFILE_FILE='/dev/null', LC_ALL='C')
for name in ('CFLAGS', 'CXXFLAGS', 'LDFLAGS', 'MAKEFLAGS', 'CC', 'CXX'):
    ENV.pop(name, None)


def call(argv, log, cwd, **more):
    with open(log, 'ab') as f:
        p = subprocess.run(argv, cwd=cwd, env=ENV, stdin=subprocess.DEVNULL, stdout=f, stderr=f, **more)
    if p.returncode:
        with open(log, errors='replace') as f:
            tail = ''.join(f.readlines()[-15:])
        raise SystemExit(f"{' '.join(argv[:6])} ended with {p.returncode}:\n{tail}")


def run(argv, profile, **more):
    """One run that must leave a profile. That the program refuses a part of its input is as good a run as
    any; that a signal ends it is not."""
    p = subprocess.run(argv, env=dict(ENV, LLVM_PROFILE_FILE=profile), stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL, **more)
    if p.returncode < 0 or not os.path.exists(profile) or not os.path.getsize(profile):
        raise SystemExit(f"'{argv[0]}' ended with {p.returncode} and left no profile in '{profile}'")


def statements(seed, create, choices, most):
    r = random.Random(seed)
    n = r.randint(10, 300)
    out = [c.format(n=n) for c in create]
    for i in range(r.randint(3, most)):
        out.append(r.choice(choices).format(k=r.randint(1, 50), m=r.randint(1, 9), i=i))
    return out


class Sqlite:
    package = name = 'sqlite3'
    tools = ['tclsh', 'make']

    def prepare(self, source, log):
        if not os.path.exists(source + '/sqlite3.c'):
            call(['./configure', '--disable-readline'], log, source)
            call(['make', 'sqlite3.c', 'shell.c'], log, source)

    def build(self, source, to, flags, log):
        if os.path.exists(to):
            return
        self.prepare(source, log)
        call(['clang-22', *flags, '-fprofile-generate', '-DSQLITE_THREADSAFE=0',
              '-DSQLITE_OMIT_LOAD_EXTENSION', '-o', to + '.new', 'shell.c', 'sqlite3.c', '-lm'],
             log, source)
        os.rename(to + '.new', to)

    def run(self, binary, i, profile):
        sql = statements(i, [
            'create table t(a integer primary key, b text, c real, d blob)', 'create index i on t(b)',
            "with recursive s(x) as (select 1 union all select x+1 from s where x<{n}) insert into t "
            "select x, 'k'||(x*7919%{n}), x*1.5, randomblob(x%17) from s"], [
            "select count(*),sum(c) from t where b like 'k%{k}%'",
            'select b,group_concat(a) from t group by b order by 2 desc limit {k}',
            'update t set c=c+{k} where a%{m}=0', 'delete from t where a%{m}={k}',
            'select * from t x join t y on x.a=y.a+{m} order by x.b limit {k}',
            'select a,row_number() over (partition by a%{m} order by c) from t',
            'select json_group_array(a) from t where a<{k}',
            "select substr(b,1,{m}),upper(b),hex(d),printf('%08.3f',c) from t",
            'create view v{i} as select a*{m} z from t where c>{k}',
            "explain query plan select * from t where b='k{k}'",
            "select date('now','+{k} days'),strftime('%s','now')", 'pragma integrity_check',
            "begin;insert into t(b) values('x{k}');rollback",
            'select a from t except select {m}*a from t', 'alter table t add column e{i}', 'vacuum',
            'analyze', 'select quote(d),typeof(c),abs(c),round(c,{m}) from t'], 40)
        run([binary, ':memory:'], profile, input=';\n'.join(sql).encode() + b';\n')


class Postgres:
    """The server in single-user mode, on a cluster of its own. It refuses to run as root."""
    package = name = 'postgresql-15'
    tools = ['make', 'perl']
    parts = ('backend', 'timezone', 'interfaces/libpq', 'fe_utils', 'bin/initdb', 'pl/plpgsql/src',
             'backend/snowball')

    def demoted(self):
        return dict(user='nobody', group='nogroup', extra_groups=[]) if os.geteuid() == 0 else {}

    def build(self, source, to, flags, log):
        prefix, jobs = to + '.d', f'-j{len(os.sched_getaffinity(0))}'
        if not os.path.exists(to):
            call(['./configure', 'CC=clang-22', f"CFLAGS={' '.join(flags)} -fprofile-generate",
                  '--without-readline', '--without-zlib', '--without-icu', f'--prefix={prefix}'], log, source)
            for part in self.parts:
                call(['make', '-s', jobs, '-C', 'src/' + part], log, source)
            for part in self.parts:
                if part != 'fe_utils':
                    call(['make', '-s', '-C', 'src/' + part, 'install'], log, source)
            os.symlink(prefix + '/bin/postgres', to)
        self.cluster = to + '.cluster'
        if not os.path.isdir(self.cluster):
            os.mkdir(self.cluster)
            if os.geteuid() == 0:
                subprocess.run(['chown', 'nobody:nogroup', self.cluster], check=True)
            call([prefix + '/bin/initdb', '-D', self.cluster, '-A', 'trust', '--no-sync', '-E', 'UTF8',
                  '--locale', 'C'], log, '/', **self.demoted())

    def run(self, binary, i, profile):
        sql = statements(i, [
            'drop table if exists t cascade',
            'create table t(a int primary key, b text, c float8, d jsonb, e date)',
            "insert into t select x, 'k'||(x*7919%{n}), x*1.5, jsonb_build_object('x',x,'y',array[x,{n}]), "
            "date '2020-01-01'+x from generate_series(1,{n}) x"], [
            "select count(*),sum(c),avg(a),stddev(c) from t where b like 'k%{k}%'",
            "select b,string_agg(a::text,',') from t group by b order by 2 desc limit {k}",
            'update t set c=c+{k} where a%{m}=0', 'delete from t where a%{m}={k}',
            'select * from t x join t y on x.a=y.a+{m} order by x.b limit {k}',
            'select a,row_number() over (partition by a%{m} order by c) from t',
            "select d->'x', d->>'y', d @> '{{\"x\":{k}}}' from t",
            "select substr(b,1,{m}),upper(b),md5(b),to_char(c,'999.99'),regexp_replace(b,'[0-9]+','{k}') "
            "from t", "explain select * from t where b='k{k}' and a<{m}",
            "select e+{k}, extract(dow from e), date_trunc('month',e), age(e) from t", 'analyze t',
            'select a from t except select a*{m} from t',
            'with recursive f(x,y) as (select 0,1 union all select y,x+y from f where y<{k}*1000) '
            'select max(y) from f', 'select percentile_cont(0.{m}) within group (order by c) from t',
            'select x.a,(select count(*) from t y where y.a<x.a) from t x order by 2 limit {k}',
            "select ts_rank(to_tsvector('english',b||' running dogs {k}'),to_tsquery('run&dog')) from t "
            "limit {k}", 'vacuum t', 'do $$ begin for i in 1..{k} loop perform i*{m}; end loop; end $$',
            "select 1.{k}::numeric^{m}, '{{1,{k}}}'::int[] || {m}, point({k},{m}) <-> point(0,0), "
            "inet '10.0.0.{k}' << inet '10.0.0.0/8'"], 25)
        run([binary, '--single', '-F', '-D', self.cluster, 'postgres'], profile,
            input='\n'.join(sql).encode() + b'\n', cwd='/', **self.demoted())


class OneCall:
    """A program that one call of the compiler builds, and that reads an input file."""
    tools = []

    def __init__(self, package, compiler, files, arguments, more=()):
        self.package = self.name = package
        self.compiler, self.files, self.arguments, self.more = compiler, files, arguments, list(more)

    def build(self, source, to, flags, log):
        command = ' '.join([self.compiler, *flags, '-w', '-fprofile-generate', '-o', to + '.new',
                            *self.more, self.files, '-lm'])
        if not os.path.exists(to):
            call(['sh', '-c', command], log, source)
            os.rename(to + '.new', to)
        self.inputs = os.path.dirname(to)

    def run(self, binary, i, profile):
        path = os.path.join(self.inputs, 'input')
        r = random.Random(i)
        words = [bytes(r.randrange(97, 123) for _ in range(r.randint(1, 9))) for _ in range(100)]
        with open(path, 'wb') as f:
            f.write(b' '.join(r.choice(words) for _ in range(r.randint(10, 3000))))
        with open(path, 'rb') as f:
            run([binary, *(a.format(path=path, i=i) for a in self.arguments)], profile, stdin=f)


LUA = ("local t, n = {{}}, {i} * 10 for i = 1, n do t[i] = {{k = ('%05d'):format(i * 7919 % n), i = i}} end "
       "table.sort(t, function(a, b) return a.k < b.k end) "
       "local s = setmetatable({{}}, {{__index = function(_, k) return k .. '!' end}}) local b = {{}} "
       "local c = coroutine.wrap(function() for i = 1, n do coroutine.yield(s[i]) end end) "
       "for i = 1, n do b[#b + 1] = (c()):gsub('%d', 'x'):upper() end print(#table.concat(b), pcall(error))")

SMALL = [
    Sqlite(),
    OneCall('lua5.4', 'clang-22', '$(ls src/*.c | grep -v /luac.c)', ['-e', LUA], ['-DLUA_USE_POSIX']),
    OneCall('bzip2', 'clang-22', 'blocksort.c huffman.c crctable.c randtable.c compress.c decompress.c '
            'bzlib.c bzip2.c', ['-c', '{path}'], ['-D_FILE_OFFSET_BITS=64']),
    OneCall('lzip', 'clang++-22', '*.cc', ['-c', '{path}'], ['-DPROGVERSION=\\"1\\"']),
    OneCall('zlib', 'clang-22', '*.c test/minigzip.c', [], ['-I.', '-DHAVE_UNISTD_H']),
]
LARGE = [Sqlite(), Postgres()]
VARIANTS = [['-O1'], ['-O2'], ['-Os'], ['-O3']]

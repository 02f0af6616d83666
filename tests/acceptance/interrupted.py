"""What the tests of interrupted builds share: builds, the stage that runs, moments, and what may be
left afterwards."""
import glob, hashlib, os, random, shutil, signal, subprocess, tarfile, tempfile, time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
WHET = os.environ.get('WHET', os.path.join(ROOT, 'build/src/cli/whet'))
STAGES = ['probe', 'plain build', 'instrumented build', 'training', 'merge', 'optimised build',
          'check', 'bench', 'release']
MARK = 'WHET_TEST_MARK'  # in the environment of every process of the builds of one test


class Project:
    """A copy of a subject with its state folder, below one work folder."""

    def __init__(self, work, subject, edits=()):
        self.work, self.folder = work, f'{work}/{subject}'
        self.state, self.tmp = f'{work}/state', f'{work}/tmp'
        self.mark = os.path.basename(work)
        self.pristine = f'{work}/{subject}.pristine'
        shutil.copytree(f'{ROOT}/tests/subjects/{subject}', self.pristine)
        for name, old, new in edits:
            path = f'{self.pristine}/{name}'
            with open(path) as f:
                text = f.read()
            assert old in text, (name, old)
            with open(path, 'w') as f:
                f.write(text.replace(old, new))
        self.fresh()

    def fresh(self):
        for f in (self.folder, self.state, self.tmp):
            shutil.rmtree(f, True)
        shutil.copytree(self.pristine, self.folder)
        os.makedirs(self.tmp)

    def start(self, *more, wrap=(), **popen):
        env = dict(os.environ, WHET_STATE=self.state, TMPDIR=self.tmp, **{MARK: self.mark})
        return subprocess.Popen([*wrap, WHET, 'build', '-v', '-f', f'{self.folder}/whet.yaml', *more],
                                env=env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                **popen)

    def finish(self, *more):
        """A whole build: exit code and what it said."""
        p = self.start(*more, stderr=subprocess.PIPE)
        err = p.communicate()[1].decode(errors='replace')
        return p.returncode, err

    def processes(self):
        """Live processes of this test's builds, apart from this one."""
        want = f'{MARK}={self.mark}'.encode()
        found = []
        for d in glob.glob('/proc/[0-9]*'):
            try:
                with open(d + '/environ', 'rb') as f:
                    mine = want in f.read().split(b'\0')
                place = os.readlink(d + '/cwd') + '\n' + os.readlink(d + '/exe')
                if (mine or self.work + '/' in place) and int(d[6:]) != os.getpid():
                    if stat_of(int(d[6:]))[0] not in 'ZX':
                        found.append((int(d[6:]), name_of(int(d[6:]))))
            except (OSError, TypeError):
                pass
        return found

    def await_none(self, seconds=3):
        """The processes that are left when none should be."""
        end = time.monotonic() + seconds
        while self.processes() and time.monotonic() < end:
            time.sleep(0.01)
        return self.processes()

    def released(self):
        """Digests of the released pgo binary and of the profile."""
        dist = self.folder + '/dist'
        with tarfile.open(glob.glob(dist + '/*-pgo.tar.gz')[0]) as t:
            member = [m for m in t.getmembers() if m.isfile()][0]
            binary = hashlib.sha256(t.extractfile(member).read()).hexdigest()
        return binary, sha256(glob.glob(dist + '/*.profdata')[0])

    def broken_dist(self):
        """A folder of artefacts is whole or not there."""
        sums = self.folder + '/dist/SHA256SUMS'
        if not os.path.exists(self.folder + '/dist'):
            return ''
        if not os.path.exists(sums):
            return 'dist without SHA256SUMS: ' + ' '.join(os.listdir(self.folder + '/dist'))
        return subprocess.run(['sha256sum', '--quiet', '-c', 'SHA256SUMS'], capture_output=True,
                              text=True, cwd=self.folder + '/dist').stdout

    def committed_profile(self):
        """The published profile of a finished merge node, or None."""
        for record in glob.glob(self.state + '/*/nodes/*/node.json'):
            path = os.path.join(os.path.dirname(record), 'published.profdata')
            if os.path.exists(path):
                return sha256(path)
        return None

    def leavings(self):
        """What a finished build may not leave: temporary files, the slot, unfinished nodes."""
        left = [p for p in glob.glob(self.state + '/**/.*.??????', recursive=True)
                if os.path.isfile(p)]
        left += glob.glob(self.folder + '/.dist*') + glob.glob(self.tmp + '/*')
        left += glob.glob(self.tmp + '/.*') + glob.glob(self.state + '/*/slot')
        left += [d for d in glob.glob(self.state + '/*/nodes/*')
                 if not os.path.exists(d + '/node.json')]
        return left

    def rebuilt(self):
        """Digest of the binary of a fresh build from the profile that was published just now."""
        dist = glob.glob(self.folder + '/dist/*.profdata')[0]
        for f in (dist, dist + '.json'):
            shutil.copy(f, self.work + '/given' + f[len(dist):])
        shutil.rmtree(self.state)
        code, err = self.finish('--profile', self.work + '/given', '--no-bench')
        return (self.released()[0], '') if code == 0 else (None, err)


def sha256(path):
    with open(path, 'rb') as f:
        return hashlib.sha256(f.read()).hexdigest()


def stat_of(pid):
    """State and parent, or None."""
    try:
        with open(f'/proc/{pid}/stat') as f:
            fields = f.read().rsplit(')', 1)[1].split()
        return fields[0], int(fields[1])
    except OSError:
        return None


def name_of(pid):
    """What a process is: the name that whet's own give themselves, else that of its program (a shim is
    started by the name of the compiler)."""
    try:
        with open(f'/proc/{pid}/comm') as f:
            comm = f.read().strip()
        exe = os.path.basename(os.readlink(f'/proc/{pid}/exe'))
        return exe if exe.startswith('whet') and not comm.startswith('whet-') else comm
    except OSError:
        return ''


def tree_of(root):
    """Live descendants of a process."""
    children, found = {}, []
    for d in glob.glob('/proc/[0-9]*'):
        got = stat_of(int(d[6:]))
        if got and got[0] not in 'ZX':
            children.setdefault(got[1], []).append(int(d[6:]))
    todo = [root]
    while todo:
        for c in children.get(todo.pop(), []):
            found.append(c)
            todo.append(c)
    return found


def own_processes(run, log):
    """whet's own processes below the one that was started, once the first stage runs."""
    while run.poll() is None and running_stage(log) is None:
        time.sleep(0.0005)
    return [pid for pid in tree_of(run.pid) if name_of(pid).startswith('whet')]


def frozen(root, first):
    """Stops a process and all below it, some of them first; returns those below. What lives some
    milliseconds, a process or a stage, would be gone before it could be chosen otherwise."""
    stopped, new = set(), {root, *first}
    while new:
        for pid in new:
            signal_to(pid, signal.SIGSTOP)
        stopped |= new
        new = set(tree_of(root)) - stopped
    return [pid for pid in sorted(stopped - {root}) if (stat_of(pid) or 'X')[0] not in 'ZX']


def thaw(pids):
    for pid in pids:
        signal_to(pid, signal.SIGCONT)


def signal_to(pid, number):
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        pass


def running_stage(log):
    """The stage that began last, from what `whet build -v` printed; None before the first."""
    with open(log, errors='replace') as f:
        lines = [l.strip() for l in f if l.rstrip().endswith(' ...')]
    return lines[-1][:-4].strip() if lines else None


def stage_durations(err):
    out = {}
    for line in err.splitlines():
        for s in STAGES:
            if line.startswith('✓') and line[2:].startswith(s):
                out[s] = float(line[2 + len(s):].split()[0])
    return out


def reach(process, log, stage, delay):
    """Waits until `delay` seconds into a stage of a running build. Returns the stage that runs then;
    None: the build has ended before."""
    due = None
    while process.poll() is None:
        running = running_stage(log)
        if running == stage and due is None:
            due = time.monotonic() + delay
        if due is not None and time.monotonic() >= due:
            return running
        if running and STAGES.index(running) > STAGES.index(stage):
            return running
        time.sleep(0.0005)
    return None


def be_quick():
    """Lets this test, not what it starts, run at once when it is due: a moment inside a stage of some
    milliseconds is missed on a busy machine otherwise. Not permitted to all users."""
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO | os.SCHED_RESET_ON_FORK, os.sched_param(1))
    except OSError:
        pass


def work_folder(name):
    work = tempfile.mkdtemp(prefix=name + '-')
    os.chmod(work, 0o711)
    return work


def tree_hash():
    return subprocess.run(['git', '-C', ROOT, 'rev-parse', 'HEAD^{tree}'], capture_output=True,
                          text=True).stdout.strip() or 'unknown'

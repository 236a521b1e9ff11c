// Runs commands of exec as processes of this machine. A terminal needs `script` of util-linux.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';

const script = ['/usr/bin/script', '/bin/script'].find((path) => existsSync(path));
const sizeMsMax = 2_000;
const running = new Set();
/** Processes that run now: none may be left when the clients have gone. */
export const runningProcesses = () => running.size;

const quoted = (word) => `'${word.replaceAll("'", "'\\''")}'`;

/** Returns the exit code. The process group is killed when the client leaves. */
export async function runLocally(command, { stdin, stdout, stderr, resize, tty, signal }, environment = {}) {
  const words = tty ? await terminalCommand(command, resize) : command;
  const child = spawn(words[0], words.slice(1), {
    stdio: ['pipe', 'pipe', 'pipe'],
    detached: true,
    env: { PATH: process.env.PATH, ...(tty && { TERM: 'xterm' }), ...environment },
  });
  running.add(child);
  const kill = () => {
    try {
      process.kill(-child.pid, 'SIGKILL');
    } catch {
      // It has ended.
    }
  };
  if (signal.aborted) kill();
  signal.addEventListener('abort', kill);
  try {
    child.stdin.on('error', () => undefined);
    if (stdin) stdin.pipe(child.stdin);
    else child.stdin.end();
    for (const [from, to] of [
      [child.stdout, stdout],
      [child.stderr, stderr],
    ]) {
      if (to) from.pipe(to, { end: false });
      else from.resume();
    }
    return await new Promise((resolve, reject) => {
      child.once('error', reject);
      child.once('close', (code) => resolve(code ?? 137));
    });
  } finally {
    signal.removeEventListener('abort', kill);
    running.delete(child);
    stdin?.unpipe(child.stdin);
    stdin?.resume();
  }
}

/** A command in a terminal of the size that the client sends first. */
async function terminalCommand(command, resize) {
  if (!script) throw new Error('terminals need the program script of util-linux');
  const size = resize && (await firstSize(resize));
  const prefix = size ? `stty rows ${size.Height} cols ${size.Width}; ` : '';
  return [script, '-qefc', `${prefix}exec ${command.map(quoted).join(' ')}`, '/dev/null'];
}

function firstSize(resize) {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(undefined), sizeMsMax);
    let text = '';
    resize.on('data', (part) => {
      text += part;
      const match = /\{"Width":(\d+),"Height":(\d+)\}/.exec(text);
      if (!match) return;
      clearTimeout(timer);
      resolve({ Width: Number(match[1]), Height: Number(match[2]) });
    });
  });
}

// The streams of a container runtime whose containers are this machine.
import { spawn } from 'node:child_process';
import { connect } from 'node:net';
import { serveCommand } from './command-server.mjs';
import { refuse } from './handshake.mjs';
import { runLocally } from './local-process.mjs';
import { servePortForward } from './port-forward-server.mjs';

/** The main process of the only container: it repeats each line of its input. Started by the first attach. */
let main;
function mainProcess() {
  main ??= spawn('sh', ['-c', 'while read line; do echo "attached: $line"; done'], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  return main;
}

async function attach({ stdin, stdout, signal }) {
  const { stdin: input, stdout: output } = mainProcess();
  stdin?.on('data', (part) => input.write(part));
  const forward = (part) => stdout?.write(part);
  output.on('data', forward);
  await new Promise((resolve) => {
    signal.addEventListener('abort', resolve);
    stdin?.once('end', () => setTimeout(resolve, 500));
  });
  output.off('data', forward);
  return 0;
}

function dial(port) {
  return new Promise((resolve, reject) => {
    const target = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    target.once('connect', () => resolve(target));
    target.once('error', reject);
  });
}

/** Serves an upgrade: `kind` is exec, attach or portforward; `streams` says which of them the client asked for. */
export function serveLocally({ kind, command = [], streams, ports = [] }, { request, socket, head }) {
  switch (kind) {
    case 'exec':
      return serveCommand({ request, socket, head, streams, run: (io) => runLocally(command, io) });
    case 'attach':
      return serveCommand({ request, socket, head, streams, run: attach });
    case 'portforward':
      return servePortForward({ request, socket, head, ports, connect: dial });
    default:
      return refuse(socket, 404, 'not found');
  }
}

import { upgradeOf } from '../../connections/upgrades.js';
import { ForwardError } from '../../forwarding/forward-error.js';
import type { ForwardTarget } from '../../forwarding/forward-target.js';
import { forwardUpgrade } from '../../forwarding/forward-upgrade.js';
import { requestHeaders } from '../../forwarding/forwarded-headers.js';
import type { Upstreams } from '../../forwarding/upstreams.js';
import type { Clock } from '../../std/clock.js';
import type { ContainerRuntime } from '../cri/container-runtime.js';
import type { RequestOf } from '../cri/messages.js';
import { hasContainer, type NodePods } from '../pods/node-pods.js';
import { AgentError, type AgentRequest } from '../server/agent-request.js';
import { sendText } from '../server/agent-response.js';
import type { Route } from '../server/routes.js';

interface Dependencies {
  readonly pods: NodePods;
  readonly runtime: ContainerRuntime | undefined;
  readonly upstreams: Upstreams;
  readonly clock: Clock;
  readonly idleTimeoutMs: number;
}

type StreamOptions = Required<Pick<RequestOf<'Exec'>, 'stdin' | 'stdout' | 'stderr' | 'tty'>>;

/** /exec, /attach and /portForward, which the streaming server of the runtime serves, and /run. */
export function streamRoutes(dependencies: Dependencies): readonly Route[] {
  const { pods, runtime } = dependencies;
  const containerOf = async ({ parameters, signal }: AgentRequest): Promise<[ContainerRuntime, string]> => {
    const [namespace, pod, name] = [
      required(parameters, 'namespace'),
      required(parameters, 'pod'),
      required(parameters, 'container'),
    ];
    const found = await pods.require(namespace, pod, signal, parameters.get('uid'));
    const id = found.running?.containers.find((container) => container.name === name)?.container.id;
    if (!hasContainer(found, name)) throw new AgentError(404, `container ${name} does not exist`);
    if (id === undefined || !runtime) throw new AgentError(404, `container ${name} is not running`);
    return [runtime, id];
  };
  const exec = async (request: AgentRequest) => {
    const options = streamOptionsOf(request.query);
    requireUpgrade(request);
    const [cri, containerId] = await containerOf(request);
    const cmd = request.query.getAll('command');
    const url = () => cri.call('Exec', { containerId, cmd, ...options }, { signal: request.signal });
    await forwardTo(dependencies, request, url);
  };
  const attach = async (request: AgentRequest) => {
    const options = streamOptionsOf(request.query);
    requireUpgrade(request);
    const [cri, containerId] = await containerOf(request);
    const url = () => cri.call('Attach', { containerId, ...options }, { signal: request.signal });
    await forwardTo(dependencies, request, url);
  };
  const portForward = async (request: AgentRequest) => {
    const { parameters, signal, query } = request;
    const port = portsOf(query);
    requireUpgrade(request);
    const found = await pods.require(
      required(parameters, 'namespace'),
      required(parameters, 'pod'),
      signal,
      parameters.get('uid'),
    );
    const podSandboxId = found.running?.sandbox.id;
    if (podSandboxId === undefined || !runtime) throw new AgentError(404, 'the pod is not running');
    await forwardTo(dependencies, request, () => runtime.call('PortForward', { podSandboxId, port }, { signal }));
  };
  const run = async (request: AgentRequest) => {
    const [cri, containerId] = await containerOf(request);
    const cmd = (request.query.get('cmd') ?? '').split(' ').filter((word) => word !== '');
    const { stdout, stderr, exitCode } = await asked(() =>
      cri.call('ExecSync', { containerId, cmd }, { signal: request.signal }),
    );
    if (exitCode !== 0) {
      throw new AgentError(500, `command '${cmd.join(' ')}' exited with ${exitCode}: ${stderr.toString()}`);
    }
    sendText(request.response, 200, `${stdout.toString()}${stderr.toString()}`);
  };
  const methods = ['GET', 'POST'];
  const both = (path: string, handle: Route['handle'], of = methods): Route[] => [
    { methods: of, path: `${path}/{container}`, handle },
    { methods: of, path: `${path}/{uid}/{container}`, handle },
  ];
  return [
    ...both('/exec/{namespace}/{pod}', exec),
    ...both('/attach/{namespace}/{pod}', attach),
    { methods, path: '/portForward/{namespace}/{pod}', handle: portForward },
    { methods, path: '/portForward/{namespace}/{pod}/{uid}', handle: portForward },
    ...both('/run/{namespace}/{pod}', run, ['POST']),
  ];
}

const required = (parameters: ReadonlyMap<string, string>, name: string): string => parameters.get(name)!;

function streamOptionsOf(query: URLSearchParams): StreamOptions {
  const isSet = (name: string) => query.get(name) === '1' || query.get(name) === 'true';
  const tty = isSet('tty');
  const options = {
    tty,
    stdin: isSet('input') || isSet('stdin'),
    stdout: isSet('output') || isSet('stdout'),
    // With a terminal the two outputs are one.
    stderr: !tty && (isSet('error') || isSet('stderr')),
  };
  if (!options.stdin && !options.stdout && !options.stderr) {
    throw new AgentError(400, 'you must specify at least 1 of stdin, stdout, stderr');
  }
  return options;
}

/** Ports of a WebSocket, which has no other place for them; SPDY names them in its streams. */
function portsOf(query: URLSearchParams): number[] {
  return query
    .getAll('port')
    .flatMap((text) => text.split(','))
    .map((text) => {
      const port = /^\d{1,5}$/.test(text) ? Number(text) : 0;
      if (port < 1 || port > 65_535) throw new AgentError(400, `invalid port "${text.slice(0, 20)}"`);
      return port;
    });
}

function requireUpgrade({ raw }: AgentRequest): void {
  if (!upgradeOf(raw)) throw new AgentError(400, 'Upgrade request required');
}

/** Asks the runtime for the URL of a stream, and forwards the connection there. */
async function forwardTo(
  { upstreams, clock, idleTimeoutMs }: Dependencies,
  { raw, response, method }: AgentRequest,
  ask: () => Promise<{ readonly url: string }>,
): Promise<void> {
  const upgrade = upgradeOf(raw)!;
  const url = urlOf((await asked(ask)).url);
  const headers = requestHeaders(raw, {
    // For the agent alone.
    isDropped: (name) => name === 'authorization',
    clientAddress: undefined,
    host: url.host,
    isUpgrade: true,
    method,
  });
  const downstream = {
    ...{ request: raw, response, head: upgrade.head },
    begin: () => true,
    cut: () => raw.socket.destroy(),
    sent: () => undefined,
    switchProtocols: (given: Readonly<Record<string, string | string[]>>) => upgrade.switchProtocols(given),
  };
  const path = `${url.pathname}${url.search}`;
  try {
    const forwarded = { target: targetOf(url), method, path, headers };
    await forwardUpgrade(upstreams, downstream, forwarded, { clock, idleTimeoutMs: idleTimeoutMs || Infinity });
  } catch (error) {
    if (error instanceof ForwardError) throw new AgentError(500, `error dialing the runtime: ${error.message}`);
    throw error;
  }
}

/** Converts errors of the runtime: a stream that it refuses is a 500, as in the kubelet. */
async function asked<T>(ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    throw new AgentError(500, error instanceof Error ? error.message : String(error), { cause: error });
  }
}

function urlOf(text: string): URL {
  if (URL.canParse(text)) {
    const url = new URL(text);
    if (url.protocol === 'http:' || url.protocol === 'https:') return url;
  }
  throw new AgentError(500, 'the runtime returned no URL for the stream');
}

/** The runtime answers on this machine, with a certificate of its own: the URL came over its socket, which root owns. */
function targetOf(url: URL): ForwardTarget {
  const scheme = url.protocol === 'http:' ? 'http' : 'https';
  const port = url.port === '' ? (scheme === 'http' ? 80 : 443) : Number(url.port);
  const host = url.hostname.replace(/^\[|\]$/g, '');
  return { scheme, host, port, ...(scheme === 'https' && { tls: { isInsecure: true } }) };
}

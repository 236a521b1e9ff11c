import type { IncomingMessage } from 'node:http';
import { upgradeOf } from '../connections/upgrades.js';
import type { AnyRequest } from '../connections/raw-messages.js';
import type { UpgradeDownstream } from '../forwarding/downstream.js';
import type { StreamPlan } from '../forwarding/forward-plan.js';
import { authorityOf } from '../forwarding/forward-target.js';
import { requestUpgrade } from '../forwarding/forward-upgrade.js';
import type { Upstreams } from '../forwarding/upstreams.js';
import { UpgradeRefusedError, type ConnectServer } from '../remote-streams/spdy-upgrade.js';
import { isTranslatedCommand, translateCommand } from '../remote-streams/translate-command.js';
import { isTunnelRequest, tunnelPortForward } from '../remote-streams/tunnel-port-forward.js';
import type { UpgradeRequest } from '../remote-streams/upgrade-request.js';
import type { Clock } from '../std/clock.js';

interface Dependencies {
  readonly kubelets: Upstreams;
  readonly clock: Clock;
  readonly idleTimeoutMs: number;
}

/** True if the client speaks a protocol over WebSocket that the kubelet does not know. */
export function isTranslatedStream(request: AnyRequest, { target, subresource }: StreamPlan): boolean {
  if (target.translatesWebSockets) return false;
  const http1 = request as IncomingMessage;
  return subresource === 'portforward' ? isTunnelRequest(http1) : isTranslatedCommand(http1);
}

/** Returns the request, and how its connection becomes a WebSocket: the answer is recorded as 101 then. */
export function webSocketUpgrade(request: AnyRequest, downstream: UpgradeDownstream): UpgradeRequest {
  return {
    request: request as IncomingMessage,
    head: downstream.head,
    take: async () => ((await downstream.begin(101)) ? upgradeOf(request)?.takeOver() : undefined),
  };
}

/** Serves exec, attach or portforward over a WebSocket, with SPDY to the kubelet. */
export async function translateStream(
  request: AnyRequest,
  downstream: UpgradeDownstream,
  { target, path, subresource }: StreamPlan,
  { kubelets, clock, idleTimeoutMs }: Dependencies,
): Promise<void> {
  const { response } = downstream;
  const connect: ConnectServer = (more, signal) => {
    const headers = ['Host', authorityOf(target), 'User-Agent', 'keelson'];
    for (const [name, value] of Object.entries(more)) for (const one of [value].flat()) headers.push(name, one);
    return requestUpgrade(kubelets, { target, method: 'POST', path, headers }, { clock, signal });
  };
  const upgrade = webSocketUpgrade(request, downstream);
  if (subresource !== 'portforward') {
    const query = new URLSearchParams(path.slice(path.indexOf('?') + 1));
    const is = (name: string) => query.get(name) === '1';
    const streams = { stdin: is('input'), stdout: is('output'), stderr: is('error'), tty: is('tty') };
    return translateCommand(upgrade, { clock, streams, connect, idleTimeoutMs });
  }
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  try {
    await tunnelPortForward(upgrade, { clock, connect, signal: gone.signal, idleTimeoutMs });
  } catch (error) {
    if (!(error instanceof UpgradeRefusedError)) throw error;
    const { code, headers, body } = error;
    if (!(await downstream.begin(code)) || response.destroyed) return;
    downstream.sent(body.length);
    response.writeHead(code, { ...headers, 'content-length': String(body.length) } as never);
    response.end(body);
  }
}

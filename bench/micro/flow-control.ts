import { startOpenKeelson } from '../../src/assembly/start-keelson.js';
import { headersFor } from '../../src/answers/answer.js';
import { RequestState } from '../../src/answers/request-state.js';
import { InflightLimiter } from '../../src/flow/inflight-limiter.js';
import { parseRequestInfo } from '../../src/machinery/request-info.js';
import type { UserInfo } from '../../src/machinery/user-info.js';
import { holdProcess, systemClock } from '../../src/std/clock.js';

/**
 * CPU time of the flow control of a request without competition: classification, seats, metrics and headers, compared
 * with the limit of requests in flight: `node dist/bench/micro/flow-control.js`.
 */
const rounds = 300_000;

function measure(label: string, run: () => void): void {
  for (let at = 0; at < rounds / 3; at++) run();
  const best = Math.min(...Array.from({ length: 5 }, () => nanosEach(run)));
  process.stdout.write(`${label.padEnd(52)}${best.toFixed(0)} ns\n`);
}

function nanosEach(run: () => void): number {
  const before = process.cpuUsage();
  for (let at = 0; at < rounds; at++) run();
  const { user, system } = process.cpuUsage(before);
  return ((user + system) * 1000) / rounds;
}

async function main(): Promise<void> {
  const hold = holdProcess();
  const keelson = await startOpenKeelson();
  const flowControl = keelson.components.flowControl!;
  while (flowControl.levels.size < 8) await new Promise((resolve) => setTimeout(resolve, 20));
  const user = (name: string, ...groups: string[]): UserInfo => ({ name, uid: '', groups, extra: {} });
  const users: Readonly<Record<string, UserInfo>> = {
    'system:masters': user('admin', 'system:masters', 'system:authenticated'),
    'a user': user('alice', 'system:authenticated'),
    'a node': user('system:node:n1', 'system:nodes', 'system:authenticated'),
  };
  const infos = {
    GET: parseRequestInfo('GET', '/api/v1/namespaces/default/pods/p'),
    LIST: parseRequestInfo('GET', '/api/v1/namespaces/default/pods?limit=500'),
    PUT: parseRequestInfo('PUT', '/api/v1/namespaces/default/pods/p'),
  };
  for (const [who, it] of Object.entries(users)) {
    for (const [what, info] of Object.entries(infos)) {
      measure(`${what} of ${who}`, () => flowControl.admit(info, it).finish());
    }
  }
  const limiter = new InflightLimiter({ readsMax: 400, writesMax: 200, longRunningMax: 0, longRunningPerUserMax: 0 });
  const verdictOf = () => limiter.admit(infos.GET, users['a user']!);
  measure('GET with a limit of requests in flight', () => {
    const verdict = verdictOf();
    if (verdict.isAdmitted) verdict.release?.();
  });
  const state = new RequestState(infos.GET, 'id', systemClock);
  const request = { kube: state } as unknown as Parameters<typeof headersFor>[0];
  measure('headers without uids', () => void headersFor(request, 'application/json'));
  state.flow = flowControl.admit(infos.GET, users['a user']!);
  measure('headers with uids', () => void headersFor(request, 'application/json'));
  state.flow.finish();
  await keelson.stop();
  hold.cancel();
}

await main();

import { lossesFor } from '../../test/harness/audit-events.js';
import { RequestState } from '../answers/request-state.js';
import { AuditMetrics } from '../metrics/audit-metrics.js';
import { ApiError } from '../machinery/api-error.js';
import { parseRequestInfo } from '../machinery/request-info.js';
import { ManualClock } from '../std/clock.js';
import type { AuditEvent } from './audit-event.js';
import type { AuditSink } from './audit-sink.js';
import { Auditor } from './auditor.js';
import { readAuditPolicy } from './read-audit-policy.js';
import { RequestAudit } from './request-audit.js';
import { TruncatingSink } from './truncating-sink.js';

/** Keeps events. */
class Kept implements AuditSink {
  readonly events: Record<string, unknown>[] = [];
  process(events: readonly AuditEvent[]): true {
    for (const { pieces } of events) {
      this.events.push(JSON.parse(`{${Buffer.concat(pieces).toString()}`) as Record<string, unknown>);
    }
    return true;
  }
  close(): Promise<void> {
    return Promise.resolve();
  }
  abandon(): void {
    // This sink keeps no events.
  }
}

function audited(url: string, rules = '[{level: RequestResponse, omitStages: [RequestReceived]}]') {
  const clock = new ManualClock();
  const kept = new Kept();
  const policy = readAuditPolicy(`apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: ${rules}`, {
    file: 'policy.yaml',
    group: 'audit.k8s.io',
  });
  const observer = new AuditMetrics();
  const latencyPrefix = 'apiserver.latency.k8s.io/';
  const auditor = new Auditor({ ...{ policy, observer, clock, latencyPrefix }, sink: kept, closeTimeoutMs: 1 });
  const kube = new RequestState(parseRequestInfo('GET', url), 'id', clock);
  const audit = new RequestAudit(auditor, kube, { url, headers: {}, peer: '127.0.0.1' });
  return { auditor, audit, kube, clock, events: kept.events };
}

const pods = '/api/v1/namespaces/a/pods';

it('a response after the first one is not recorded', () => {
  const { audit, events } = audited(pods);
  void audit.begin();
  const timeout = ApiError.timeout('too late').toStatus();
  audit.noteAnswer({ status: timeout });
  void audit.answered(504);
  audit.noteAnswer({ object: [Buffer.from('{}')] });
  void audit.answered(200);
  audit.ended();
  expect(events).toMatchObject([{ stage: 'ResponseComplete', responseStatus: { code: 504, message: 'too late' } }]);
});

it('an error that no code expects is recorded as a panic', () => {
  const { audit, events } = audited(pods);
  void audit.begin();
  void audit.panicked('x is undefined');
  void audit.answered(500);
  expect(events).toMatchObject([
    {
      stage: 'Panic',
      responseStatus: { reason: 'InternalError', message: "APIServer panic'd: x is undefined", code: 500 },
    },
  ]);
});

it.each([
  ['a get', pods, ['ResponseComplete']],
  ['a watch', `${pods}?watch=1`, ['ResponseStarted', 'ResponseComplete']],
])('%s that ends without a response is recorded', (_what, url, stages) => {
  const { audit, events } = audited(url);
  void audit.begin();
  audit.ended();
  expect(events.map(({ stage }) => stage)).toEqual(stages);
  expect(events.at(-1)).toMatchObject({
    responseStatus: { status: 'Success', message: 'Connection closed early', code: 200 },
  });
});

it('a request whose user is not known yet is not recorded when it ends', () => {
  const { audit, events } = audited(pods);
  audit.ended();
  expect(events).toEqual([]);
});

it('the level None records nothing', () => {
  const { audit, events } = audited(pods, '[{level: None}]');
  expect([audit.begin(), audit.isComplete, audit.answered(200)]).toEqual([undefined, true, undefined]);
  expect(events).toEqual([]);
});

it('a request without an outcome is recorded when the server stops', async () => {
  const { auditor, audit, events } = audited(pods);
  void audit.begin();
  auditor.undecided.add(audit);
  await auditor.close();
  expect(events).toMatchObject([{ stage: 'ResponseComplete', responseStatus: { message: 'Connection closed early' } }]);
});

describe('a slow request', () => {
  const latencies = ({ annotations }: Record<string, unknown>) => annotations;

  it('is annotated with the durations of its steps', () => {
    const { audit, kube, clock, events } = audited(pods);
    clock.advance(20);
    kube.begin('authorization');
    clock.advance(30);
    kube.begin('store');
    void audit.begin();
    clock.advance(1500);
    kube.begin('handling');
    clock.advance(5);
    void audit.answered(200);
    expect(events.map(latencies)).toEqual([
      {
        'apiserver.latency.k8s.io/authentication': '20ms',
        'apiserver.latency.k8s.io/authorization': '30ms',
        'apiserver.latency.k8s.io/etcd': '1.5s',
        'apiserver.latency.k8s.io/total': '1.555s',
      },
    ]);
  });

  it.each([
    ['that takes half a second', pods, 500],
    ['that is a watch', `${pods}?watch=1`, 60_000],
  ])('%s is not annotated', (_what, url, ms) => {
    const { audit, clock, events } = audited(url);
    void audit.begin();
    clock.advance(ms);
    void audit.answered(200);
    expect(events.map(latencies)).toEqual(events.map(() => undefined));
  });
});

it('an event that is too large without its objects is lost and counted', () => {
  const { audit, events } = audited(`${pods}?fieldSelector=${'x'.repeat(2000)}`);
  const { losses, counts } = lossesFor(new ManualClock());
  void audit.begin();
  void audit.answered(200);
  expect(events).toHaveLength(1);
  const kept = new Kept();
  const sink = new TruncatingSink(kept, { eventBytesMax: 1000, losses, annotation: 'audit.k8s.io/truncated' });
  const event = { bytes: 2000, level: 'Metadata', auditId: 'id' } as AuditEvent;
  expect([sink.process([event]), kept.events, counts()['error_total truncate']]).toEqual([true, [], 1]);
});

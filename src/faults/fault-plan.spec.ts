import { parseRequestInfo } from '../machinery/request-info.js';
import { FaultInjector } from './fault-injector.js';
import { parseFault, parseFaultPlan } from './fault-plan.js';

const user = { name: 'system:serviceaccount:shop:operator', uid: '', groups: [], extra: {} };
const subject = (method: string, url: string) => ({
  info: parseRequestInfo(method, url),
  user,
  userAgent: 'operator/v1',
});
const update = subject('PUT', '/apis/apps/v1/namespaces/shop/deployments/web');

function injector(...rules: string[]): FaultInjector {
  const made = new FaultInjector();
  made.setPlan(parseFaultPlan(`{seed: 7, rules: [${rules.join(', ')}]}`));
  return made;
}

describe('parseFaultPlan', () => {
  it.each([
    ['[]', /mapping/],
    ['{rule: []}', /^rule: not known; one of seed, clockOffset, rules$/],
    ['{rules: {}}', /^rules: a list$/],
    ['{rules: [{}]}', /^rules\[0\]\.fault: a mapping$/],
    ['{rules: [{fault: {status: 418}}]}', /^rules\[0\]\.fault\.status: one of 400/],
    ['{rules: [{fault: {}}]}', /give latency, and at most one of/],
    ['{rules: [{fault: {status: 409, dropAnswer: true}}]}', /at most one of/],
    ['{rules: [{fault: {latency: soon}}]}', /^rules\[0\]\.fault\.latency: a duration/],
    ['{rules: [{fault: {latency: -1s}}]}', /a duration/],
    ['{rules: [{fault: {expireWatchAfter: 1e400h}}]}', /expireWatchAfter: a duration/],
    ['{rules: [{fault: {expireWatchAfter: 1s, stallWatchAfter: 1s}}]}', /at most one of/],
    ['{rules: [{match: {verbs: [post]}, fault: {status: 409}}]}', /verbs: post is none of get, list/],
    ['{rules: [{probability: 2, fault: {status: 409}}]}', /probability: from 0 to 1/],
    ['{rules: [{name: a, fault: {status: 409}}, {name: a, fault: {status: 410}}]}', /a name of its own/],
    ['{seed: -1}', /^seed: a whole number/],
    ['{__proto__: {seed: 1}}', /__proto__: not known/],
    ['a: [', /./],
    ['{rules: [{match: {}, webhooks: {}, fault: {status: 500}}]}', /^rules\[0\]: give match for requests, or webhooks/],
    ['{rules: [{webhooks: {kind: [validating]}, fault: {status: 500}}]}', /webhooks\.kind: not known; one of kinds, /],
    ['{rules: [{webhooks: {kinds: [audit]}, fault: {status: 500}}]}', /kinds: audit is none of mutating, validating, /],
    ['{rules: [{webhooks: {users: eve}, fault: {status: 500}}]}', /webhooks\.users: a list$/],
    ['{rules: [{webhooks: {users: [{}]}, fault: {status: 500}}]}', /webhooks\.users: a list of at most 1000 texts$/],
    [
      '{rules: [{webhooks: {kinds: [mutating, conversion], users: [a]}, fault: {status: 500}}]}',
      /conversion have no user/,
    ],
    [
      '{rules: [{webhooks: {kinds: [authentication], users: []}, fault: {status: 500}}]}',
      /authentication have no user/,
    ],
    ['{rules: [{webhooks: {}, fault: {status: 200}}]}', /^rules\[0\]\.fault\.status: from 300 to 599$/],
    ['{rules: [{webhooks: {}, fault: {dropAnswer: true}}]}', /dropAnswer: not known; one of latency, status, /],
    ['{rules: [{webhooks: {}, fault: {noAnswer: 1s}}]}', /^rules\[0\]\.fault\.noAnswer: true$/],
    ['{rules: [{webhooks: {}, fault: {deny: ""}}]}', /^rules\[0\]\.fault\.deny: a text$/],
    ['{rules: [{webhooks: {}, fault: {noAnswer: true, deny: no}}]}', /at most one of status, refuseConnection/],
    ['{rules: [{webhooks: {}, fault: {allow: true}}]}', /allow: only for webhooks\.kinds \[mutating, validating\]/],
    ['{rules: [{fault: {latency: 2h}}]}', /a duration such as 200ms or 5m, at most 1h$/],
    ['{clockOffset: 876001h}', /^clockOffset: a duration such as 200ms or 5m, at most 876000h$/],
    [
      `{rules: [${Array.from({ length: 11 }, (_, index) => `{name: r${index}, match: {names: [${'a,'.repeat(1000)}]}, fault: {status: 500}}`).join()}]}`,
      /^rules: at most 10000 texts to match$/,
    ],
  ])('rejects %s', (text, message) => {
    expect(() => parseFaultPlan(text)).toThrow(message);
  });

  it('reads durations, shifts of the clock and defaults', () => {
    expect(parseFaultPlan('{clockOffset: -1h, rules: [{fault: {latency: 200ms}}]}')).toEqual({
      seed: 0,
      clockOffsetMs: -3_600_000,
      rules: [{ name: 'rules[0]', match: {}, probability: 1, skip: 0, limit: Infinity, fault: { latencyMs: 200 } }],
    });
    expect(parseFault('status: 409')).toEqual({ status: 409 });
  });
});

describe('FaultInjector', () => {
  it('matches verbs, resources, namespaces, names, users and user agents', () => {
    const choose = (match: string) => injector(`{match: ${match}, fault: {status: 409}}`).choose(update);
    const matching = [
      '{}',
      '{verbs: [update]}',
      '{resources: [pods, deployments.apps]}',
      '{resources: ["deploy*"]}',
      '{namespaces: [shop], names: [web]}',
      '{users: ["system:serviceaccount:shop:*"]}',
      '{userAgents: ["operator/*"]}',
    ];
    for (const match of matching) expect(choose(match)).toEqual({ status: 409 });
    const others = [
      '{verbs: [patch]}',
      '{resources: [deployments]}',
      '{resources: [deployments.apps/status]}',
      '{users: [a]}',
    ];
    for (const match of others) expect(choose(match)).toBeUndefined();
  });

  it('lets the first matching requests pass, and rests after its limit', () => {
    const faults = injector('{name: r, skip: 2, limit: 3, fault: {status: 500}}');
    const codes = Array.from({ length: 8 }, () => faults.choose(update)?.status);
    expect(codes).toEqual([undefined, undefined, 500, 500, 500, undefined, undefined, undefined]);
    expect(faults.counts.rules).toEqual([{ name: 'r', matched: 8, injected: 3 }]);
  });

  it('chooses the same requests for the same seed, whatever other rules do', () => {
    const rule = '{name: half, probability: 0.5, fault: {status: 500}}';
    const chosen = (faults: FaultInjector) => Array.from({ length: 100 }, () => faults.choose(update)?.status ?? 0);
    const first = chosen(injector(rule));
    expect(chosen(injector(rule))).toEqual(first);
    expect(chosen(injector(rule, '{name: other, match: {verbs: [get]}, fault: {status: 404}}'))).toEqual(first);
    const share = first.filter((code) => code === 500).length;
    expect(share).toBeGreaterThan(30);
    expect(share).toBeLessThan(70);
  });

  it('matches calls of webhooks by user; calls without a user match only rules without users', () => {
    const faults = injector(
      '{name: shop, webhooks: {users: [eve, "system:serviceaccount:shop:*", __proto__]}, fault: {status: 500}}',
      '{name: any, webhooks: {users: ["*"]}, fault: {status: 501}}',
      '{name: all, webhooks: {}, fault: {status: 502}}',
    );
    const users = ['eve', 'evelyn', 'system:serviceaccount:shop:a', '__proto__', 'constructor', '', undefined];
    const subject = { configuration: 'policy', name: '', kind: 'authorization' } as const;
    const statuses = users.map((user) => {
      const injected = faults.injectCall({ ...subject, user }, () => ({}));
      return (injected?.result as { readonly status: number }).status;
    });
    expect(statuses).toEqual([500, 501, 500, 500, 501, 501, 502]);
  });

  it('joins the latency of one rule with the status of another', () => {
    const faults = injector('{name: slow, fault: {latency: 1s}}', '{name: fail, fault: {status: 503}}');
    expect(faults.choose(update)).toEqual({ latencyMs: 1_000, status: 503 });
  });
});

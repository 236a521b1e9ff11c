import { eventOf } from '../../test/harness/audit-events.js';
import { microTime, WallTime } from './wall-time.js';
import { ManualClock, type Clock } from '../std/clock.js';
import { sourceAddresses } from './source-addresses.js';

const text = (event: ReturnType<typeof eventOf>) => `{${Buffer.concat(event.pieces).toString()}`;
const user = { name: 'a "b"', uid: 'u', groups: ['g', 'h'], extra: { k: ['v'] } };

describe('an event', () => {
  it('has its fields in the order of kube-apiserver', () => {
    const event = eventOf({
      level: 'RequestResponse',
      user,
      impersonatedUser: { name: 'c', uid: '', groups: [], extra: {} },
      impersonationConstraint: 'impersonate:user-info',
      objectRef: {
        ...{ resource: 'pods', namespace: 'n', name: 'p', uid: 'x', apiGroup: '', apiVersion: 'v1' },
        ...{ resourceVersion: '7', subresource: 'status' },
      },
      responseStatus: { code: 404, status: 'Failure', message: 'm', reason: 'NotFound', details: { name: 'p' } },
      requestObject: [Buffer.from('{"a":'), Buffer.from('1}')],
      responseObject: [Buffer.from('{}')],
      annotations: new Map([
        ['z', '1'],
        ['a"', '2'],
      ]),
    });
    expect(text(event)).toBe(
      '{"level":"RequestResponse","auditID":"id","stage":"ResponseComplete","requestURI":"/api/v1/pods","verb":"list"' +
        ',"user":{"username":"a \\"b\\"","uid":"u","groups":["g","h"],"extra":{"k":["v"]}},"impersonatedUser":{"username":"c"}' +
        ',"authenticationMetadata":{"impersonationConstraint":"impersonate:user-info"},"sourceIPs":["127.0.0.1"],"userAgent":"test"' +
        ',"objectRef":{"resource":"pods","namespace":"n","name":"p","uid":"x","apiVersion":"v1","resourceVersion":"7","subresource":"status"}' +
        ',"responseStatus":{"metadata":{},"status":"Failure","message":"m","reason":"NotFound","details":{"name":"p"},"code":404}' +
        ',"requestObject":{"a":1},"responseObject":{},"requestReceivedTimestamp":"2026-01-01T00:00:00.000000Z"' +
        ',"stageTimestamp":"2026-01-01T00:00:00.001500Z","annotations":{"a\\"":"2","z":"1"}}',
    );
    expect(event.bytes).toBe(Buffer.byteLength(text(event)) - 1);
  });

  it('without a user, an object or a response has none of their fields', () => {
    const event = eventOf({ user: undefined, responseStatus: undefined, userAgent: '', sourceIps: [] });
    expect(Object.keys(JSON.parse(text(event)) as object)).toEqual([
      ...['level', 'auditID', 'stage', 'requestURI', 'verb', 'user', 'requestReceivedTimestamp', 'stageTimestamp'],
    ]);
    expect(JSON.parse(text(event))).toMatchObject({ user: {} });
  });

  it('that is truncated has no objects, and says so', () => {
    const event = eventOf({ requestObject: [Buffer.from('{}')], annotations: new Map([['a', 'b']]) });
    expect(JSON.parse(text(event.truncated('audit.k8s.io/truncated')))).toMatchObject({
      annotations: { a: 'b', 'audit.k8s.io/truncated': 'true' },
    });
    expect(JSON.parse(text(event.truncated('x')))).not.toHaveProperty('requestObject');
  });

  it.each([
    [
      'a request',
      eventOf({ user, receivedMicros: 1_767_225_600_120_000, userAgent: 'k "x"' }),
      '2026-01-01T00:00:00.12Z AUDIT: id="id" stage="ResponseComplete" ip="127.0.0.1" method="list" user="a \\"b\\""' +
        ' groups="\\"g\\",\\"h\\"" as="<self>" asgroups="<lookup>" user-agent="k \\"x\\"" namespace="<none>" uri="/api/v1/pods" response="200"\n',
    ],
    [
      'an unknown user',
      eventOf({ user: undefined, sourceIps: [], responseStatus: undefined, userAgent: '' }),
      '2026-01-01T00:00:00Z AUDIT: id="id" stage="ResponseComplete" ip="<unknown>" method="list" user="<none>" groups="<none>"' +
        ' as="<self>" asgroups="<lookup>" user-agent="" namespace="<none>" uri="/api/v1/pods" response="<deferred>"\n',
    ],
  ])('of %s is one line in the legacy format', (_what, event, line) => expect(event.legacyLine()).toBe(line));
});

describe('times', () => {
  it.each([
    [0, '1970-01-01T00:00:00.000000Z'],
    [1_767_225_600_000_001, '2026-01-01T00:00:00.000001Z'],
    [1_767_225_600_999_999, '2026-01-01T00:00:00.999999Z'],
  ])('%d microseconds', (micros, want) => expect(microTime(micros)).toBe(want));

  it('follow a clock of the system that is set', () => {
    let offsetMs = 1_000_000;
    const base = new ManualClock(0);
    const clock: Clock = {
      now: () => base.now() + offsetMs,
      monotonicMs: () => base.now() + 0.25,
      after: () => base.after(0, () => undefined),
    };
    const time = new WallTime(clock);
    base.advance(10);
    expect(time.nowMicros()).toBe(1_000_010_000);
    offsetMs = 5_000_000;
    expect(time.nowMicros()).toBe(5_000_010_000);
  });
});

describe('source addresses', () => {
  it.each<[Record<string, string>, string | undefined, string[]]>([
    [{}, '127.0.0.1', ['127.0.0.1']],
    [{}, undefined, []],
    [{}, '::ffff:10.0.0.1', ['10.0.0.1']],
    [
      { 'x-forwarded-for': '192.0.2.1, x, 192.0.2.2', 'x-real-ip': '192.0.2.3' },
      '10.0.0.1',
      ['192.0.2.1', '192.0.2.2', '192.0.2.3', '10.0.0.1'],
    ],
    [{ 'x-forwarded-for': '192.0.2.1', 'x-real-ip': '192.0.2.1' }, '192.0.2.1', ['192.0.2.1']],
    [{ 'x-forwarded-for': '2001:DB8:0::1,"],fe80::1%eth0' }, '::1', ['2001:db8::1', '::1']],
    [{ 'x-real-ip': 'not an address' }, '10.0.0.1', ['10.0.0.1']],
  ])('%j from %s', (headers, peer, want) => expect(sourceAddresses(headers, peer)).toEqual(want));
});

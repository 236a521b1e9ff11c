import fc from 'fast-check';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { RangeRequest, RequestOp } from './etcd-messages.js';
import { GrpcError, MalformedMessageError } from '../../../grpc/grpc-error.js';
import { frameHeaderBytes } from '../../../grpc/message-frames.js';
import {
  decodeRange,
  decodeStatus,
  decodeTxn,
  decodeWatch,
  encodeRange,
  encodeStatus,
  encodeTxn,
  encodeWatch,
} from './wire.js';

interface Method {
  requestSerialize(message: object): Buffer;
  requestDeserialize(bytes: Buffer): object;
  responseSerialize(message: object): Buffer;
}
type Services = Record<string, Record<string, Method>>;

// etcd3 decodes the same messages by etcd's own .proto files, with an independent codec.
const etcd3 = createRequire(__filename).resolve('etcd3/package.json');
const { loadSync } = createRequire(etcd3)('@grpc/proto-loader') as {
  loadSync(file: string, options: object): Services;
};
const proto = loadSync(join(dirname(etcd3), 'proto/rpc.proto'), {
  keepCase: true,
  longs: String,
  enums: String,
  oneofs: true,
});
const method = (service: string, name: string) => proto[`etcdserverpb.${service}`]![name]!;
const kvRange = method('KV', 'Range');
const kvTxn = method('KV', 'Txn');
const watch = method('Watch', 'Watch');
const status = method('Maintenance', 'Status');

/** Decodes our frame by etcd3. Buffers become arrays, because etcd3 returns another Buffer type. */
function readBy({ requestDeserialize }: Method, frame: Buffer): unknown {
  expect([frame[0], frame.readUInt32BE(1)]).toEqual([0, frame.length - frameHeaderBytes]);
  return plain(requestDeserialize(frame.subarray(frameHeaderBytes)));
}

function plain(value: unknown): unknown {
  if (value instanceof Uint8Array) return [...value];
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, plain(one)]));
}

const bytes = fc.uint8Array({ maxLength: 300 }).map((one) => Buffer.from(one));
const revision = fc.maxSafeNat();
const known = fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER });
const key = fc.string({ unit: 'binary', maxLength: 40 });

describe('etcd3 decodes our requests', () => {
  const range: fc.Arbitrary<RangeRequest> = fc.record(
    { key: bytes, rangeEnd: bytes, revision: known, limit: known, isCountOnly: fc.constant(true) },
    { requiredKeys: ['key'] },
  );
  const asEtcd3Range = ({ key, rangeEnd, revision, limit, isCountOnly }: RangeRequest) =>
    plain({
      key,
      ...(rangeEnd && { range_end: rangeEnd }),
      ...(revision !== undefined && { revision: String(revision) }),
      ...(limit !== undefined && { limit: String(limit) }),
      ...(isCountOnly && { count_only: true }),
    });

  it('range', () =>
    fc.assert(
      fc.property(range, (request) => expect(readBy(kvRange, encodeRange(request))).toEqual(asEtcd3Range(request))),
    ));

  it('txn', () => {
    const op: fc.Arbitrary<RequestOp> = fc.oneof(
      fc.record({ type: fc.constant('put' as const), key: bytes, value: bytes }),
      fc.record({ type: fc.constant('delete' as const), key: bytes }),
      range.map((one) => ({ type: 'range' as const, ...one })),
    );
    const asEtcd3Op = (one: RequestOp) => {
      if (one.type === 'put') return { request: 'request_put', request_put: plain({ key: one.key, value: one.value }) };
      if (one.type === 'delete')
        return { request: 'request_delete_range', request_delete_range: plain({ key: one.key }) };
      return { request: 'request_range', request_range: asEtcd3Range(one) };
    };
    const ops = fc.array(op, { maxLength: 5 });
    const compare = fc.array(fc.record({ key: bytes, modRevision: revision }), { maxLength: 5 });
    fc.assert(
      fc.property(compare, ops, ops, (compare, success, failure) => {
        const want = {
          compare: compare.map(({ key, modRevision }) => ({
            target: 'Mod',
            target_union: 'mod_revision',
            key: [...key],
            mod_revision: String(modRevision),
          })),
          success: success.map(asEtcd3Op),
          failure: failure.map(asEtcd3Op),
        };
        const nonEmpty = Object.fromEntries(Object.entries(want).filter(([, list]) => list.length > 0));
        expect(readBy(kvTxn, encodeTxn({ compare, success, failure }))).toEqual(nonEmpty);
      }),
    );
  });

  it('watch', () =>
    fc.assert(
      fc.property(bytes, bytes, known, fc.boolean(), (key, rangeEnd, startRevision, withPrevious) => {
        const request = { key, rangeEnd, startRevision, withPrevious, hasProgressNotes: true, isFragmented: true };
        expect(readBy(watch, encodeWatch({ type: 'create', ...request }))).toEqual({
          request_union: 'create_request',
          create_request: {
            key: [...key],
            range_end: [...rangeEnd],
            start_revision: String(startRevision),
            progress_notify: true,
            ...(withPrevious && { prev_kv: true }),
            fragment: true,
          },
        });
      }),
    ));

  it('progress and status', () => {
    const progress = { request_union: 'progress_request', progress_request: {} };
    expect(readBy(watch, encodeWatch({ type: 'progress' }))).toEqual(progress);
    expect(readBy(status, encodeStatus())).toEqual({});
  });

  it('a value larger than the expected size', () => {
    const value = Buffer.alloc(3_000_000, 'v');
    const frame = encodeTxn({ compare: [], success: [{ type: 'put', key: Buffer.from('k'), value }], failure: [] });
    expect(frame.includes(value)).toBe(true);
    expect(frame.readUInt32BE(1)).toBe(frame.length - frameHeaderBytes);
  });
});

/** Encodes a response as etcd sends it, with fields that are not used. */
const header = (revision: number) => ({
  cluster_id: '17237436991929493444',
  member_id: '18446744073709551615',
  revision,
  raft_term: '7',
});
const asEtcd3Item = ({ key, value, createRevision, modRevision }: Item) => ({
  key: Buffer.from(key),
  value,
  create_revision: createRevision,
  mod_revision: modRevision,
  version: 3,
  lease: '-5',
});
interface Item {
  readonly key: string;
  readonly value: Buffer;
  readonly createRevision: number;
  readonly modRevision: number;
}
const item: fc.Arbitrary<Item> = fc.record({
  key: key.map((text) => Buffer.from(text).toString()),
  value: bytes,
  createRevision: revision,
  modRevision: revision,
});
const items = fc.array(item, { maxLength: 6 });

describe('we decode responses encoded by etcd3', () => {
  it('range', () =>
    fc.assert(
      fc.property(items, known, revision, (items, revision, count) => {
        const message = { header: header(revision), kvs: items.map(asEtcd3Item), more: true, count };
        expect(decodeRange(kvRange.responseSerialize(message))).toEqual({ revision, items, count });
      }),
    ));

  it('txn', () =>
    fc.assert(
      fc.property(fc.array(items, { maxLength: 4 }), known, fc.boolean(), (ranges, revision, succeeded) => {
        const responses = ranges.map((items) => ({
          response_range: { header: header(revision), kvs: items.map(asEtcd3Item), count: items.length },
        }));
        const others = [{ response_put: { header: header(1) } }, { response_delete_range: { deleted: 1 } }, {}];
        const message = { header: header(revision), succeeded, responses: [...others, ...responses] };
        expect(decodeTxn(kvTxn.responseSerialize(message))).toEqual({
          revision,
          succeeded,
          ranges: ranges.map((items) => ({ revision, items, count: items.length })),
        });
      }),
    ));

  it('watch', () => {
    const event = fc.record({ isDeletion: fc.boolean(), item, previous: fc.option(item, { nil: undefined }) });
    const message = fc.record({
      revision,
      isCreated: fc.boolean(),
      isCancelled: fc.boolean(),
      compactRevision: revision,
      cancelReason: key.map((text) => Buffer.from(text).toString()),
      isFragment: fc.boolean(),
      events: fc.array(event, { maxLength: 5 }),
    });
    fc.assert(
      fc.property(message, (want) => {
        const bytes = watch.responseSerialize({
          header: header(want.revision),
          watch_id: '-1',
          created: want.isCreated,
          canceled: want.isCancelled,
          compact_revision: want.compactRevision,
          cancel_reason: want.cancelReason,
          fragment: want.isFragment,
          events: want.events.map(({ isDeletion, item, previous }) => ({
            type: isDeletion ? 1 : 0,
            kv: asEtcd3Item(item),
            ...(previous && { prev_kv: asEtcd3Item(previous) }),
          })),
        });
        expect(decodeWatch(bytes)).toEqual(want);
      }),
    );
  });

  it('status', () => {
    const message = { header: header(5), version: '3.5.30', dbSize: '20480', leader: '10276657743932975437' };
    expect(decodeStatus(status.responseSerialize(message))).toEqual({
      version: '3.5.30',
      clusterId: BigInt('17237436991929493444').toString(16),
    });
  });
});

describe('malformed messages', () => {
  const decoders = [decodeRange, decodeTxn, decodeWatch, decodeStatus];
  const answerOf = (decode: (bytes: Buffer) => unknown, bytes: Buffer) => {
    try {
      return decode(bytes);
    } catch (error) {
      return error;
    }
  };
  const whole = kvRange.responseSerialize({
    header: header(7),
    kvs: [{ key: Buffer.from('k'), value: Buffer.from('value'), create_revision: 5, mod_revision: 6 }],
    count: 1,
  });

  it('random bytes decode or throw a GrpcError', () =>
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 100 }), (noise) => {
        for (const decode of decoders) {
          const answer = answerOf(decode, Buffer.from(noise));
          if (answer instanceof Error) expect(answer).toBeInstanceOf(MalformedMessageError);
        }
      }),
      { numRuns: 2_000 },
    ));

  it('a truncated field is rejected', () => {
    for (let length = 0; length < whole.length; length++) {
      const answer = answerOf(decodeRange, whole.subarray(0, length));
      if (!(answer instanceof Error)) expect(answer).toMatchObject({ revision: 7 });
      else expect(answer).toBeInstanceOf(GrpcError);
    }
  });

  it('a flipped bit decodes or throws a GrpcError, and reads nothing outside the message', () =>
    fc.assert(
      fc.property(fc.nat(whole.length * 8 - 1), (bit) => {
        const damaged = Buffer.from(whole);
        damaged[bit >> 3]! ^= 1 << (bit & 7);
        const answer = answerOf(decodeRange, damaged);
        if (answer instanceof Error) expect(answer).toBeInstanceOf(MalformedMessageError);
      }),
    ));

  it.each([
    ['an unterminated varint', [0x18, ...Array<number>(10).fill(0x80), 1]],
    ['a number above 2^53', [0x20, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x10]],
    ['a negative number', [0x20, ...Array<number>(9).fill(0xff), 1]],
    ['a length beyond the end', [0x12, 5, 0x0a, 0]],
    ['a nested field that exceeds its message', [0x12, 2, 0x0a, 4, 0, 0, 0, 0]],
    ['field 0', [0x00, 1]],
    ['a group', [0x0b, 0x0c]],
    ['a known field with another wire type', [0x0a, 2, 0x1d, 0]],
    ['a response without revision', [0x20, 1]],
    ['an empty message', []],
  ])('%s', (_, bytes) => {
    expect(answerOf(decodeRange, Buffer.from(bytes))).toBeInstanceOf(MalformedMessageError);
  });
});

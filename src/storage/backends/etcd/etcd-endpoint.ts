import type { Clock } from '../../../std/clock.js';
import { Deferred } from '../../../std/deferred.js';
import { EtcdAdministration } from './etcd-administration.js';
import { isTransient } from './etcd-errors.js';
import {
  zeroKey,
  type RangeRequest,
  type RangeResponse,
  type StatusResponse,
  type TxnRequest,
  type TxnResponse,
  type WatchRequest,
  type WatchResponse,
} from './etcd-messages.js';
import { NotConnectedError } from '../../../grpc/grpc-error.js';
import { Http2Channel, type TlsFiles } from '../../../grpc/http2-channel.js';
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
import type { Cancellation } from '../../../std/cancellation.js';

export interface Unary {
  range: { request: RangeRequest; response: RangeResponse };
  txn: { request: TxnRequest; response: TxnResponse };
  compact: { request: { readonly revision: number }; response: void };
}

export type CallHeaders = Readonly<Record<string, string>>;

type UnaryCalls = {
  [M in keyof Unary]: (
    request: Unary[M]['request'],
    deadlineMs: number,
    signal: Cancellation | undefined,
    headers: CallHeaders | undefined,
  ) => Promise<Unary[M]['response']>;
};

interface WatchListener {
  received(response: WatchResponse): void;
  /** Called once, as the last call. */
  closed(error: Error | undefined): void;
}

export interface WatchStream {
  send(request: WatchRequest): void;
  cancel(): void;
}

const watchEnded = new Error('the watch was closed');
/** A member without a leader then refuses the call, and ends the stream, instead of staying silent. */
const requireLeader: CallHeaders = { hasleader: 'true' };
/** Counts no key: the cheapest linearizable read. */
const emptyRange: RangeRequest = { key: zeroKey, isCountOnly: true };

/** State of a member when it was connected, by a linearizable read. */
interface MemberState {
  readonly revision: number;
  readonly clusterId: string;
}

/** Begins an examination before the member is asked; the result throws if the member must not be used. */
type Examination = () => (member: MemberState) => void;

const lateMsMax = 1_000;

/** One member of the cluster. Frequent calls use our own HTTP/2 channel, compaction uses etcd3. */
export class EtcdEndpoint {
  private readonly channel: Http2Channel;
  private readonly administration: EtcdAdministration;
  private connecting: Promise<void> | undefined;
  private isAdmitted = false;
  /** Version of etcd; '', which is treated as an old version, if the user may not call Status. */
  version = '';
  private readonly calls: UnaryCalls = {
    range: (request, deadlineMs, signal, headers) =>
      this.channel.unary({
        path: '/etcdserverpb.KV/Range',
        frame: encodeRange(request),
        decode: decodeRange,
        deadlineMs,
        signal,
        headers,
      }),
    txn: (request, deadlineMs, signal, headers) =>
      this.channel.unary({
        path: '/etcdserverpb.KV/Txn',
        frame: encodeTxn(request),
        decode: decodeTxn,
        deadlineMs,
        signal,
        headers,
      }),
    compact: ({ revision }, deadlineMs, signal) =>
      this.inTime(this.administration.compact(revision, deadlineMs, signal), deadlineMs),
  };

  constructor(
    readonly url: string,
    tls: TlsFiles | undefined,
    private readonly clock: Clock,
  ) {
    this.channel = new Http2Channel({ url, tls, clock });
    this.administration = new EtcdAdministration(url, tls);
  }

  isConnected(): boolean {
    return this.isAdmitted && this.channel.isConnected();
  }

  /**
   * Resolves when requests can be sent. Rejects with NotConnectedError as soon as the connection has failed or the
   * member does not answer, and with the error of the examination.
   */
  connect(timeoutMs: number, examine: Examination): Promise<void> {
    if (this.isConnected()) return Promise.resolve();
    return (this.connecting ??= this.open(timeoutMs, examine).finally(() => (this.connecting = undefined)));
  }

  /** Finds out soon whether the member is alive, because a response is late. A connection that hangs is lost. */
  verify(): void {
    this.channel.verify();
  }

  /** Rejects soon after the deadline, even if etcd3 never ends the call: the next compaction must not wait for it. */
  private async inTime(call: Promise<void>, deadlineMs: number): Promise<void> {
    const late = new Deferred<never>();
    const leftMs = deadlineMs + lateMsMax - this.clock.now();
    const timer = this.clock.after(Math.max(0, leftMs), () => late.reject(new Error('etcd3 did not end the call')));
    try {
      await Promise.race([call, late.promise]);
    } finally {
      timer.cancel();
    }
  }

  private async open(timeoutMs: number, examine: Examination): Promise<void> {
    this.isAdmitted = false;
    await this.channel.connect(timeoutMs);
    const admit = examine();
    const deadlineMs = this.clock.now() + timeoutMs;
    const [{ version, clusterId }, range] = await Promise.all([this.status(deadlineMs), this.current(deadlineMs)]);
    this.version = version;
    if (range) admit({ revision: range.revision, clusterId });
    this.isAdmitted = true;
  }

  /** Returns undefined if the user may not read: every call then gets this answer of etcd. */
  private current(deadlineMs: number): Promise<RangeResponse | undefined> {
    return this.call('range', emptyRange, deadlineMs, undefined, undefined).catch(unlessTransient(undefined));
  }

  private status(deadlineMs: number): Promise<StatusResponse> {
    const path = '/etcdserverpb.Maintenance/Status';
    return this.channel
      .unary({ path, frame: encodeStatus(), decode: decodeStatus, deadlineMs })
      .catch(unlessTransient({ version: '', clusterId: '' }));
  }

  call<M extends keyof Unary>(
    method: M,
    request: Unary[M]['request'],
    deadlineMs: number,
    signal: Cancellation | undefined,
    headers: CallHeaders | undefined,
  ): Promise<Unary[M]['response']> {
    const allHeaders = headers ? { ...requireLeader, ...headers } : requireLeader;
    return this.calls[method](request, deadlineMs, signal, allHeaders);
  }

  /** Throws NotConnectedError if there is no connection. */
  openWatch(listener: WatchListener): WatchStream {
    const call = this.channel.open('/etcdserverpb.Watch/Watch', requireLeader, {
      message: (bytes) => listener.received(decodeWatch(bytes)),
      closed: (error) => listener.closed(error),
    });
    return {
      send: (request) => call.send(encodeWatch(request)),
      cancel: () => call.cancel(watchEnded),
    };
  }

  close(): void {
    this.channel.close();
    this.administration.close();
  }
}

/** Turns a transient error into NotConnectedError, since the member cannot be used yet, and any other into `otherwise`. */
function unlessTransient<T>(otherwise: T): (error: unknown) => T {
  return (error) => {
    if (!isTransient(error)) return otherwise;
    throw new NotConnectedError(`the member does not serve: ${(error as Error).message}`, { cause: error });
  };
}

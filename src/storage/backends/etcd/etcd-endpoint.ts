import type { Clock } from '../../../std/clock.js';
import { EtcdAdministration } from './etcd-administration.js';
import type {
  RangeRequest,
  RangeResponse,
  TxnRequest,
  TxnResponse,
  WatchRequest,
  WatchResponse,
} from './etcd-messages.js';
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

/** One member of the cluster. Frequent calls use our own HTTP/2 channel, compaction uses etcd3. */
export class EtcdEndpoint {
  private readonly channel: Http2Channel;
  private readonly administration: EtcdAdministration;
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
    compact: ({ revision }, deadlineMs, signal) => this.administration.compact(revision, deadlineMs, signal),
  };

  constructor(
    readonly url: string,
    tls: TlsFiles | undefined,
    clock: Clock,
  ) {
    this.channel = new Http2Channel({ url, tls, clock });
    this.administration = new EtcdAdministration(url, tls);
  }

  isConnected(): boolean {
    return this.channel.isConnected();
  }

  /** Resolves when requests can be sent; rejects with NotConnectedError as soon as the connection has failed. */
  connect(timeoutMs: number): Promise<void> {
    return this.channel.connect(timeoutMs);
  }

  call<M extends keyof Unary>(
    method: M,
    request: Unary[M]['request'],
    deadlineMs: number,
    signal: Cancellation | undefined,
    headers: CallHeaders | undefined,
  ): Promise<Unary[M]['response']> {
    return this.calls[method](request, deadlineMs, signal, headers);
  }

  async version(deadlineMs: number): Promise<string> {
    const { version } = await this.channel.unary({
      path: '/etcdserverpb.Maintenance/Status',
      frame: encodeStatus(),
      decode: decodeStatus,
      deadlineMs,
    });
    return version;
  }

  /** Throws NotConnectedError if there is no connection. */
  openWatch(listener: WatchListener): WatchStream {
    const call = this.channel.open(
      '/etcdserverpb.Watch/Watch',
      // A member without a leader then ends the stream instead of staying silent.
      { hasleader: 'true' },
      {
        message: (bytes) => listener.received(decodeWatch(bytes)),
        closed: (error) => listener.closed(error),
      },
    );
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

import type { Clock } from '../../../std/clock.js';
import { NotConnectedError } from './etcd-errors.js';
import type {
  RangeRequest,
  RangeResponse,
  TxnRequest,
  TxnResponse,
  WatchRequest,
  WatchResponse,
} from './etcd-messages.js';

export interface Unary {
  range: { request: RangeRequest; response: RangeResponse };
  txn: { request: TxnRequest; response: TxnResponse };
  compact: { request: { readonly revision: number }; response: unknown };
}

export interface TlsFiles {
  readonly rootCertificate?: Buffer;
  readonly certChain?: Buffer;
  readonly privateKey?: Buffer;
}

export interface WatchStream {
  write(request: WatchRequest): boolean;
  cancel(): void;
  on(event: 'data', listener: (response: WatchResponse) => void): unknown;
  on(event: 'error', listener: (error: Error) => void): unknown;
  on(event: 'end', listener: () => void): unknown;
}

type Answer<T> = (error: Error | null, response: T) => void;
type Method<Request, Response> = (
  request: Request,
  metadata: unknown,
  options: { readonly deadline: number },
  answer: Answer<Response>,
) => { cancel(): void };

/** What grpc-js makes for a service, as far as we call it. */
interface Channel {
  getConnectivityState(tryToConnect: boolean): number;
  watchConnectivityState(state: number, deadline: number, changed: (error?: Error) => void): void;
}
type KvClient = { [M in keyof Unary]: Method<Unary[M]['request'], Unary[M]['response']> } & { getChannel(): Channel };
interface WatchClient {
  watch(metadata: unknown, options: object): WatchStream;
}
interface MaintenanceClient {
  status: Method<object, { readonly version: string }>;
}

const connectivity = { ready: 2, transientFailure: 3 } as const;

const channelOptions = {
  // Ours to bound, by pages; the default of 4 MiB would refuse a page of large objects.
  'grpc.max_receive_message_length': -1,
  // A connection that went silent must not hold a watch for ever. etcd bears one ping in 5 s.
  'grpc.keepalive_time_ms': 10_000,
  'grpc.keepalive_timeout_ms': 5_000,
  'grpc.initial_reconnect_backoff_ms': 100,
  'grpc.max_reconnect_backoff_ms': 2_000,
  // What may be repeated is decided in EtcdCluster.
  'grpc.enable_retries': 0,
  // Neither proxies for web traffic nor TXT records have a say in how etcd is reached.
  'grpc.enable_http_proxy': 0,
  'grpc.service_config_disable_resolution': 1,
};

/**
 * One member of the cluster. etcd3 gives the channels and the messages; its policies stay out of the way, because they
 * close channels on an error, repeat writes, and hide the call that could be cancelled.
 */
export class EtcdEndpoint {
  private connecting: Promise<void> | undefined;
  private readonly inFlight = new Set<{ cancel(): void }>();

  private constructor(
    readonly url: string,
    private readonly clock: Clock,
    private readonly pool: { close(): void },
    private readonly metadata: unknown,
    private readonly leaderMetadata: unknown,
    private readonly kv: KvClient,
    private readonly watcher: WatchClient,
    private readonly maintenance: MaintenanceClient,
  ) {}

  static async open(url: string, tls: TlsFiles | undefined, clock: Clock): Promise<EtcdEndpoint> {
    // Loading it takes a tenth of a second (it parses its .proto files), so only those who use etcd do.
    const { ConnectionPool } = await import('etcd3/lib/connection-pool.js');
    const pool = new ConnectionPool({
      hosts: url,
      grpcOptions: channelOptions,
      ...(tls && { credentials: tls as { rootCertificate: Buffer } }),
    });
    const service = <T>(name: 'KV' | 'Watch' | 'Maintenance') =>
      pool.withConnection(name, ({ client, metadata }) => ({ client: client as unknown as T, metadata }));
    const kv = await service<KvClient>('KV');
    const watch = await service<WatchClient>('Watch');
    const maintenance = await service<MaintenanceClient>('Maintenance');
    // A member that has lost its leader then ends the stream, instead of being silent.
    watch.metadata.set('hasleader', 'true');
    return new EtcdEndpoint(url, clock, pool, kv.metadata, watch.metadata, kv.client, watch.client, maintenance.client);
  }

  isConnected(): boolean {
    return this.kv.getChannel().getConnectivityState(false) === connectivity.ready;
  }

  /** Resolves when requests can be sent; rejects as soon as they are known not to be, with NotConnectedError. */
  connect(timeoutMs: number): Promise<void> {
    this.connecting ??= this.reachReady(this.clock.now() + timeoutMs).finally(() => (this.connecting = undefined));
    return this.connecting;
  }

  call<M extends keyof Unary>(
    method: M,
    request: Unary[M]['request'],
    deadlineMs: number,
    signal: AbortSignal | undefined,
  ): Promise<Unary[M]['response']> {
    const client = this.kv as { [name in M]: Method<Unary[M]['request'], Unary[M]['response']> };
    return this.send((answer) => client[method](request, this.metadata, { deadline: deadlineMs }, answer), signal);
  }

  async version(deadlineMs: number): Promise<string> {
    const { maintenance, metadata } = this;
    const { version } = await this.send<{ version: string }>((answer) =>
      maintenance.status({}, metadata, { deadline: deadlineMs }, answer),
    );
    return version;
  }

  openWatch(): WatchStream {
    return this.watcher.watch(this.leaderMetadata, {});
  }

  close(): void {
    for (const call of this.inFlight) call.cancel();
    this.pool.close();
  }

  private send<T>(start: (answer: Answer<T>) => { cancel(): void }, signal?: AbortSignal): Promise<T> {
    return new Promise((resolve, reject) => {
      const aborted = () => call.cancel();
      const call = start((error, response) => {
        this.inFlight.delete(call);
        signal?.removeEventListener('abort', aborted);
        if (error) reject(error);
        else resolve(response);
      });
      this.inFlight.add(call);
      signal?.addEventListener('abort', aborted);
    });
  }

  private async reachReady(deadlineMs: number): Promise<void> {
    const channel = this.kv.getChannel();
    for (;;) {
      const state = channel.getConnectivityState(true);
      if (state === connectivity.ready) return;
      if (state === connectivity.transientFailure) throw new NotConnectedError(`${this.url} cannot be reached`);
      await new Promise<void>((resolve, reject) => {
        channel.watchConnectivityState(state, deadlineMs, (error) => {
          if (error) reject(new NotConnectedError(`${this.url} was not reached in time`, { cause: error }));
          else resolve();
        });
      });
    }
  }
}

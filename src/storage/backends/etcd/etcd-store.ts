import { readFile } from 'node:fs/promises';
import type { Revision } from '../../../machinery/revision.js';
import { tracedCall } from '../../../std/call-trace.js';
import type { Clock } from '../../../std/clock.js';
import type { Logger } from '../../../std/logger.js';
import type { Rng } from '../../../std/rng.js';
import type {
  CallOptions,
  Compare,
  GetResult,
  KvStore,
  RangeOptions,
  RangeResult,
  ReadOptions,
  TxnResult,
  Watch,
  WatchOptions,
  WatchSink,
  Write,
} from '../../kv-store.js';
import { StorageError } from '../../storage-error.js';
import { checkSignal, checkWrites } from '../call-rules.js';
import { laterKey } from '../later-key.js';
import { EtcdCluster } from './etcd-cluster.js';
import { EtcdEndpoint } from './etcd-endpoint.js';
import { closedError } from './etcd-errors.js';
import {
  bytesOfKey,
  endOfPrefix,
  zeroKey,
  type RangeRequest,
  type RangeResponse,
  type RequestOp,
  type TxnRequest,
} from './etcd-messages.js';
import { EtcdWatch } from './etcd-watch.js';
import type { TlsFiles } from '../../../grpc/http2-channel.js';

export interface EtcdStoreOptions {
  /** URLs of the members. `https:`, or no scheme together with TLS files, means TLS. */
  readonly servers: readonly string[];
  readonly caFile?: string;
  readonly certFile?: string;
  readonly keyFile?: string;
  /** Timeout for connecting to one member. */
  readonly dialTimeoutMs?: number;
  /** Timeout of a call including retries. */
  readonly callTimeoutMs?: number;
  /** Must be a running clock, since etcd3 computes deadlines by the system clock. */
  readonly clock: Clock;
  readonly logger: Logger;
  readonly rng: Rng;
}

/** Returns at once even if etcd is down: calls then wait for a connection until their deadline. */
export async function openEtcdStore(options: EtcdStoreOptions): Promise<KvStore> {
  const { servers, clock, logger, rng, dialTimeoutMs = 1_500, callTimeoutMs = 10_000 } = options;
  if (servers.length === 0) throw new Error('no etcd server was named');
  const tls = await readTlsFiles(options);
  const endpoints = servers.map((url) => {
    const isSecure = url.startsWith('https://') || (tls !== undefined && !url.includes('://'));
    return new EtcdEndpoint(
      isSecure && !url.includes('://') ? `https://${url}` : url,
      isSecure ? tls : undefined,
      clock,
    );
  });
  return new EtcdStore(new EtcdCluster(endpoints, { clock, rng, logger, dialTimeoutMs, callTimeoutMs }), logger);
}

async function readTlsFiles({ caFile, certFile, keyFile }: EtcdStoreOptions): Promise<TlsFiles | undefined> {
  if (caFile === undefined && certFile === undefined && keyFile === undefined) return undefined;
  if ((certFile === undefined) !== (keyFile === undefined)) {
    throw new Error('a client certificate for etcd needs its key, and a key its certificate');
  }
  return {
    ...(caFile !== undefined && { rootCertificate: await readFile(caFile) }),
    ...(certFile !== undefined && { certChain: await readFile(certFile) }),
    ...(keyFile !== undefined && { privateKey: await readFile(keyFile) }),
  };
}

/** Counts no key: the cheapest linearizable read, used for the revision in its header. */
const emptyRange: RangeRequest = { key: zeroKey, isCountOnly: true };

class EtcdStore implements KvStore {
  private readonly watches = new Set<EtcdWatch>();
  private isClosed = false;

  constructor(
    private readonly cluster: EtcdCluster,
    private readonly logger: Logger,
  ) {}

  async get(key: string, options?: ReadOptions): Promise<GetResult> {
    const response = await this.read(
      { key: bytesOfKey(key), ...(options?.revision !== undefined && { revision: options.revision }) },
      options,
    );
    return { item: response.items[0], revision: response.revision };
  }

  async range(prefix: string, options?: RangeOptions): Promise<RangeResult> {
    const { limit } = options ?? {};
    try {
      return await this.page(prefix, options, limit);
    } catch (error) {
      // A page of large values may exceed the maximum message size: read fewer at a time.
      const isTooLarge = error instanceof StorageError && error.code === 'tooLarge';
      if (!isTooLarge || limit === undefined || limit <= 1) throw error;
      return this.range(prefix, { ...options, limit: Math.ceil(limit / 8) });
    }
  }

  private page(prefix: string, options: RangeOptions | undefined, limit: number | undefined): Promise<RangeResponse> {
    const { revision, from } = options ?? {};
    return this.read(
      {
        key: bytesOfKey(laterKey(prefix, from)),
        rangeEnd: endOfPrefix(prefix),
        ...(revision !== undefined && { revision }),
        // For etcd a limit of 0 means no limit.
        ...(limit === 0 ? { isCountOnly: true } : limit !== undefined && { limit }),
      },
      options,
    );
  }

  async txn(compares: readonly Compare[], writes: readonly Write[], options?: CallOptions): Promise<TxnResult> {
    this.begin(options);
    checkWrites(writes);
    const keys = compares.map(({ key }) => bytesOfKey(key));
    const request: TxnRequest = {
      compare: compares.map(({ modRevision }, i) => ({ key: keys[i]!, modRevision })),
      success: writes.map(requestOf),
      failure: keys.map((key) => ({ type: 'range', key })),
    };
    const callOptions = { signal: options?.signal, isRepeatable: writes.length === 0 };
    const trace = options?.trace;
    const { revision, succeeded, ranges } = trace
      ? await tracedCall(trace, 'etcdserverpb.KV/Txn', spanOf('Txn', writes.length), (span) =>
          this.cluster.call('txn', request, { ...callOptions, headers: span?.headers }),
        )
      : await this.cluster.call('txn', request, callOptions);
    if (succeeded) return { succeeded, revision };
    return { succeeded, revision, current: ranges.map(({ items }) => items[0]) };
  }

  watch(prefix: string, options: WatchOptions, sink: WatchSink): Watch {
    const watch = new EtcdWatch({
      cluster: this.cluster,
      logger: this.logger,
      revision: () => this.revision(),
      read: (key, revision) => this.get(key, { revision }),
      over: (one) => this.watches.delete(one),
      prefix,
      options,
      sink,
    });
    this.watches.add(watch);
    if (this.isClosed) queueMicrotask(() => watch.end(closedError()));
    else watch.start();
    return watch;
  }

  async revision(options?: CallOptions): Promise<Revision> {
    return (await this.read(emptyRange, options)).revision;
  }

  async compact(revision: Revision): Promise<void> {
    this.begin();
    try {
      await this.cluster.call('compact', { revision }, { isRepeatable: true });
    } catch (error) {
      // The history was already compacted.
      if (!(error instanceof StorageError && error.code === 'compacted')) throw error;
    }
  }

  async close(): Promise<void> {
    if (this.isClosed) return;
    this.isClosed = true;
    for (const watch of this.watches) watch.end(closedError());
    this.cluster.close();
  }

  private read(request: RangeRequest, options: CallOptions | undefined): Promise<RangeResponse> {
    this.begin(options);
    const callOptions = { signal: options?.signal, isRepeatable: true };
    const trace = options?.trace;
    if (!trace) return this.cluster.call('range', request, callOptions);
    return tracedCall(trace, 'etcdserverpb.KV/Range', spanOf('Range', request.limit ?? 1), async (span) => {
      const response = await this.cluster.call('range', request, { ...callOptions, headers: span?.headers });
      span?.event('Keys read', { keys: response.items.length });
      return response;
    });
  }

  private begin(options?: CallOptions): void {
    if (this.isClosed) throw closedError();
    checkSignal(options);
  }
}

/** The attributes that OpenTelemetry gives calls of gRPC, and the number of keys that the call is about. */
const spanOf = (method: string, keys: number) => ({
  'rpc.system': 'grpc',
  'rpc.service': 'etcdserverpb.KV',
  'rpc.method': method,
  keys,
});

function requestOf(write: Write): RequestOp {
  const key = bytesOfKey(write.key);
  return write.type === 'put' ? { type: 'put', key, value: write.value } : { type: 'delete', key };
}

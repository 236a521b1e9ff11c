import type { TlsFiles } from '../../../grpc/http2-channel.js';
import type { Cancellation } from '../../../std/cancellation.js';

/** The part of the generated grpc-js client that is used. */
interface KvClient {
  compact(
    request: { readonly revision: number },
    metadata: unknown,
    options: { readonly deadline: number },
    answer: (error: Error | null) => void,
  ): { cancel(): void };
}

const channelOptions = {
  // EtcdCluster decides about retries.
  'grpc.enable_retries': 0,
  // HTTP proxies and TXT records must not affect how etcd is reached.
  'grpc.enable_http_proxy': 0,
  'grpc.service_config_disable_resolution': 1,
};

/**
 * Makes rare calls (compaction) through etcd3. Loading etcd3 takes 100 ms, so it is imported on first use and its
 * connection is closed after the call. Its retry policies are bypassed, because they repeat calls and prevent
 * cancellation.
 */
export class EtcdAdministration {
  private readonly inFlight = new Set<{ cancel(): void }>();
  private isClosed = false;

  constructor(
    private readonly url: string,
    private readonly tls: TlsFiles | undefined,
  ) {}

  async compact(revision: number, deadlineMs: number, signal: Cancellation | undefined): Promise<void> {
    const { ConnectionPool } = await import('etcd3/lib/connection-pool.js');
    const pool = new ConnectionPool({
      hosts: this.url,
      grpcOptions: channelOptions,
      ...(this.tls && { credentials: this.tls as { rootCertificate: Buffer } }),
    });
    try {
      // The call is made outside of withConnection(), so that its error keeps etcd's status.
      const kv = await pool.withConnection('KV', ({ client, metadata }) => ({
        client: client as unknown as KvClient,
        metadata,
      }));
      await this.send(
        (answer) => kv.client.compact({ revision }, kv.metadata, { deadline: deadlineMs }, answer),
        signal,
      );
    } finally {
      pool.close();
    }
  }

  close(): void {
    this.isClosed = true;
    for (const call of this.inFlight) call.cancel();
  }

  private send(
    start: (answer: (error: Error | null) => void) => { cancel(): void },
    signal: Cancellation | undefined,
  ): Promise<void> {
    return new Promise((resolve, reject) => {
      const aborted = () => call.cancel();
      const call = start((error) => {
        this.inFlight.delete(call);
        signal?.removeEventListener('abort', aborted);
        if (error) reject(error);
        else resolve();
      });
      this.inFlight.add(call);
      if (this.isClosed || signal?.aborted) call.cancel();
      else signal?.addEventListener('abort', aborted);
    });
  }
}

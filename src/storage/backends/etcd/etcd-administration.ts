import type { TlsFiles } from './grpc/http2-channel.js';

/** What grpc-js makes for a service, as far as we call it. */
interface KvClient {
  compact(
    request: { readonly revision: number },
    metadata: unknown,
    options: { readonly deadline: number },
    answer: (error: Error | null) => void,
  ): { cancel(): void };
}

const channelOptions = {
  // What may be repeated is decided in EtcdCluster.
  'grpc.enable_retries': 0,
  // Neither proxies for web traffic nor TXT records have a say in how etcd is reached.
  'grpc.enable_http_proxy': 0,
  'grpc.service_config_disable_resolution': 1,
};

/**
 * What is asked of etcd once in minutes goes through etcd3. Loading it takes a tenth of a second, so it is loaded when
 * it is first needed, and its connection lasts as long as the call. Its policies stay out of the way, because they
 * repeat calls and hide the one that could be cancelled.
 */
export class EtcdAdministration {
  private readonly inFlight = new Set<{ cancel(): void }>();
  private isClosed = false;

  constructor(
    private readonly url: string,
    private readonly tls: TlsFiles | undefined,
  ) {}

  async compact(revision: number, deadlineMs: number, signal: AbortSignal | undefined): Promise<void> {
    const { ConnectionPool } = await import('etcd3/lib/connection-pool.js');
    const pool = new ConnectionPool({
      hosts: this.url,
      grpcOptions: channelOptions,
      ...(this.tls && { credentials: this.tls as { rootCertificate: Buffer } }),
    });
    try {
      // The call itself is made outside, where its error keeps the status that etcd gave it.
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
    signal: AbortSignal | undefined,
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

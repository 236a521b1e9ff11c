import { startOpenKeelson, type OpenKeelson } from '../../src/assembly/start-keelson.js';
import type { ConfigOverrides } from '../../src/config/load-config.js';
import type { Logger } from '../../src/std/logger.js';
import { RawClient } from './raw-client.js';
import { bytesOf, describeRequest, type FuzzRequest } from './requests.js';
import { templates } from './objects.js';
import { problemOf } from './verdict.js';

const collections: readonly (readonly [path: string, kind: string])[] = [
  ['/api/v1/nodes', 'Node'],
  ['/api/v1/namespaces/fuzz/pods', 'Pod'],
  ['/api/v1/namespaces/fuzz/configmaps', 'ConfigMap'],
  ['/api/v1/namespaces/fuzz/secrets', 'Secret'],
  ['/api/v1/namespaces/fuzz/services', 'Service'],
  ['/api/v1/namespaces/fuzz/serviceaccounts', 'ServiceAccount'],
  ['/api/v1/namespaces/fuzz/endpoints', 'Endpoints'],
  ['/api/v1/namespaces/fuzz/events', 'Event'],
  ['/apis/coordination.k8s.io/v1/namespaces/fuzz/leases', 'Lease'],
];

/** Sessions with malformed frames end soon if their client does not answer a PING. */
const promptGoodbyes = { http2SilenceMsMax: 2_000, http2PingTimeoutMs: 1_000 };

/** A server with short timeouts, its error logs, and checks of its state. */
export class ServerUnderFuzz {
  readonly complaints: string[] = [];
  /** Number of answers by status code. */
  readonly answersByCode = new Map<number, number>();
  private readonly crashes: unknown[] = [];
  private readonly crashed = (error: unknown) => void this.crashes.push(error);
  private readonly clients: RawClient[] = [];
  keelson!: OpenKeelson;

  async start(more: ConfigOverrides = {}): Promise<void> {
    const complain = (message: string, fields?: object) =>
      this.complaints.push(`${message} ${JSON.stringify(fields)}`.slice(0, 3_000));
    // A reconciler that fails retries, and only warns.
    const warn = (_message: string, fields?: { readonly error?: unknown }) => {
      if (isMistake(fields?.error)) this.crashes.push(fields!.error);
    };
    const logger: Logger = { debug: () => undefined, info: () => undefined, warn, error: complain };
    process.on('uncaughtException', this.crashed);
    process.on('unhandledRejection', this.crashed);
    this.keelson = await startOpenKeelson({
      logger,
      config: { ...more, limits: { freshnessWaitMsMax: 50, ...promptGoodbyes } },
    });
    await this.send({ method: 'POST', target: '/api/v1/namespaces', ...json({ metadata: { name: 'fuzz' } }) });
    await this.makeBases();
  }

  /** Creates the target objects of patches and updates again if a request has deleted them. */
  async makeBases(): Promise<void> {
    for (const [target, kind] of collections) await this.send({ method: 'POST', target, ...json(templates[kind]) });
  }

  /** Sends a request and returns what is wrong with the outcome. */
  async send(request: FuzzRequest, client = this.client(0)): Promise<string | undefined> {
    const isCut = request.framing === 'tooLittle' || request.framing === 'badChunk';
    const outcome = await client.exchange(bytesOf(request), {
      hasBody: request.method !== 'HEAD',
      waitMs: isCut ? 30 : 60_000,
    });
    if (isCut || request.framing === 'tooMuch') client.close();
    if (typeof outcome === 'object') {
      this.answersByCode.set(outcome.code, (this.answersByCode.get(outcome.code) ?? 0) + 1);
    }
    const problem = problemOf(request, outcome);
    return problem && `${problem}\n  after ${describeRequest(request)}\n  ${this.complaints.at(-1) ?? ''}`;
  }

  client(index: number): RawClient {
    return (this.clients[index] ??= new RawClient(this.keelson));
  }

  /** Throws if the state of the server has changed. */
  async probe(): Promise<void> {
    const problem = await this.send({ method: 'GET', target: '/livez', headers: [] }, this.client(99));
    if (problem) throw new Error(`the server is not alive: ${problem}`);
    if (this.crashes.length > 0) throw new Error(`it would have crashed: ${describe(this.crashes[0])}`);
    if (Object.keys(Object.prototype).length > 0 || 'polluted' in {}) throw new Error('a prototype was polluted');
  }

  /** Later requests use new connections. */
  hangUp(): void {
    this.clients.forEach((client) => client.close());
  }

  /** Waits until nothing is left of closed clients. */
  async rest(): Promise<{ watches: number; cursors: number; connections: number }> {
    this.hangUp();
    const { app, components } = this.keelson;
    const left = async () => ({
      watches: components.watches.size,
      cursors: [...components.feed.resources].reduce((sum, cache) => sum + cache.watchCount, 0),
      connections: await new Promise<number>((resolve) =>
        (
          app.getHttpServer() as unknown as { getConnections(told: (error: unknown, count: number) => void): void }
        ).getConnections((_error, count) => resolve(count)),
      ),
    });
    const deadline = performance.now() + 120_000;
    for (;;) {
      const now = await left();
      if (now.watches + now.cursors + now.connections === 0 || performance.now() > deadline) return now;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  async stop(): Promise<void> {
    this.hangUp();
    await this.keelson.stop();
    process.off('uncaughtException', this.crashed);
    process.off('unhandledRejection', this.crashed);
  }
}

function json(value: unknown) {
  return {
    headers: [['content-type', 'application/json']] as [string, string][],
    body: Buffer.from(JSON.stringify(value)),
  };
}

const describe = (error: unknown) => (error instanceof Error ? error.stack : String(error));

/** True for errors that only a bug in our own code throws. */
const isMistake = (error: unknown): boolean =>
  ['TypeError', 'RangeError', 'ReferenceError', 'AssertionError'].includes((error as Error | undefined)?.name ?? '');

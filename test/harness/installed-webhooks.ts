import { readFileSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { loadAll } from 'js-yaml';
import { packageRoot } from '../../src/config/config-files.js';
import type { KubeObject } from '../../src/machinery/kube-object.js';
import { AdmissionWebhooks, registration, WebhookInstaller, type Review } from './admission-webhook.js';
import type { Answer, HttpClient } from './http-client.js';
import { startTestServer, type TestServer } from './servers.js';
import { until } from './until.js';

interface Webhook {
  readonly name: string;
  readonly clientConfig: { readonly service: object };
  readonly rules: readonly object[];
  readonly [field: string]: unknown;
}

/** A MutatingWebhookConfiguration or ValidatingWebhookConfiguration. */
interface Configuration extends KubeObject {
  readonly webhooks: readonly Webhook[];
}

/**
 * An address of this machine that an EndpointSlice may have, which loopback addresses are not. Without one, the Service
 * gets the type ExternalName, and the configurations the port of the webhook.
 */
const address = Object.values(networkInterfaces())
  .flatMap((found) => found ?? [])
  .find((one) => one.family === 'IPv4' && !one.internal && !one.address.startsWith('169.254.'))?.address;

/** True for a write of a reconciler. */
const isOfServer = ({ userInfo }: Review['request']) =>
  /^system:(apiserver|serviceaccount:kube-system:)/.test(userInfo?.username ?? '');

const kindsOf: Readonly<Record<string, 'mutating' | 'validating'>> = {
  MutatingWebhookConfiguration: 'mutating',
  ValidatingWebhookConfiguration: 'validating',
};

/** A server with the Service and the webhook configurations of published software, and a real webhook behind them. */
export class InstalledWebhooks {
  readonly admin: HttpClient;
  private readonly installer: WebhookInstaller;

  private constructor(
    readonly server: TestServer,
    readonly webhooks: AdmissionWebhooks,
    readonly configurations: readonly Configuration[],
    private readonly service: KubeObject,
    private readonly portName: string,
  ) {
    this.admin = server.admin;
    this.installer = new WebhookInstaller(this.admin, webhooks);
  }

  /** Reads a file of test/fixtures/webhooks, and creates its Service without endpoints. */
  static async start(project: string, portName: string): Promise<InstalledWebhooks> {
    const file = join(packageRoot, 'test/fixtures/webhooks', `${project}.yaml`);
    const [service, ...configurations] = loadAll(readFileSync(file, 'utf8')) as [KubeObject, ...Configuration[]];
    const { name = '', namespace = '' } = service.metadata;
    const host = address === undefined ? 'localhost' : '0.0.0.0';
    const webhooks = await AdmissionWebhooks.start({ service: `${name}.${namespace}.svc`, host });
    const server = await startTestServer(
      { store: 'memory', naming: 'kubernetes' },
      { config: { authorization: { modes: ['AlwaysAllow'] } } },
    );
    const installed = new InstalledWebhooks(server, webhooks, configurations, service, portName);
    await installed.namespace(namespace);
    if (address !== undefined) await installed.created(`/api/v1/namespaces/${namespace}/services`, service);
    return installed;
  }

  /** Creates a namespace in which Pods can be created. */
  async namespace(name: string, labels: object = {}): Promise<void> {
    await this.created('/api/v1/namespaces', { metadata: { name, labels } });
    await until(
      this.admin,
      `/api/v1/namespaces/${name}/serviceaccounts`,
      'default',
      (account) => account !== undefined,
    );
  }

  async created(path: string, object: object): Promise<KubeObject> {
    const answer = await this.admin.post(path, object);
    expect([answer.code, answer.body?.message]).toEqual([201, undefined]);
    return answer.body as KubeObject;
  }

  /** Creates the configurations, without a CA bundle if `isTrusted` is false, and waits until they are in force. */
  async configure(isTrusted = true): Promise<void> {
    const { caBundle } = this.webhooks;
    for (const configuration of this.configurations) {
      const webhooks = configuration.webhooks.map((webhook) => ({
        ...webhook,
        clientConfig: {
          service: { ...webhook.clientConfig.service, ...(address === undefined && { port: this.webhooks.port }) },
          ...(isTrusted && { caBundle }),
        },
      }));
      await this.created(this.pathOf(configuration), { ...configuration, webhooks });
    }
    await this.settled();
  }

  /** Waits until all changes of configurations are in force. */
  async settled(): Promise<void> {
    for (const kind of ['mutating', 'validating'] as const) await this.installer.settled(kind);
    this.webhooks.received.splice(0);
  }

  /** The path of the collection of a configuration. */
  pathOf({ kind }: KubeObject): string {
    return `${registration}/${kindsOf[kind]!}webhookconfigurations`;
  }

  /** Returns a stored configuration. */
  async stored(configuration: Configuration): Promise<Configuration> {
    const { body } = await this.admin.get(`${this.pathOf(configuration)}/${configuration.metadata.name}`);
    return body as Configuration;
  }

  /** Expects that the configurations are stored as submitted, with defaults and the CA bundle. */
  async expectStored(): Promise<void> {
    for (const configuration of this.configurations) {
      const { labels, annotations, name } = configuration.metadata;
      const { metadata, webhooks } = await this.stored(configuration);
      expect(metadata).toMatchObject({ name, labels, ...(annotations && { annotations }) });
      expect(webhooks).toEqual(configuration.webhooks.map((webhook) => this.withDefaults(configuration, webhook)));
    }
  }

  /** Does a write, and returns its answer and the calls for it: `/path OPERATION resource namespace/name`. */
  async callsOf(write: () => Promise<Answer>): Promise<{ readonly answer: Answer; readonly calls: readonly string[] }> {
    this.webhooks.received.splice(0);
    const answer = await write();
    const byClients = this.webhooks.received.filter(({ review }) => !isOfServer(review.request));
    const calls = byClients.map(({ path, review: { request } }) => {
      const { operation, resource, subResource, namespace, name = '' } = request;
      const what = subResource ? `${resource?.resource}/${subResource}` : resource?.resource;
      return `${path} ${operation} ${what} ${namespace ? `${namespace}/` : ''}${name}`;
    });
    return { answer, calls: calls.sort() };
  }

  /** Lets the server reach the webhook by its Service. */
  async announce(): Promise<void> {
    const { name = '', namespace = '' } = this.service.metadata;
    if (address === undefined) {
      const spec = { type: 'ExternalName', externalName: 'localhost' };
      await this.created(`/api/v1/namespaces/${namespace}/services`, { metadata: { name }, spec });
      return;
    }
    await this.created(`/apis/discovery.k8s.io/v1/namespaces/${namespace}/endpointslices`, {
      addressType: 'IPv4',
      metadata: { name: `${name}-1`, labels: { 'kubernetes.io/service-name': name } },
      ports: [{ name: this.portName, port: this.webhooks.port, protocol: 'TCP' }],
      endpoints: [{ addresses: [address], conditions: { ready: true } }],
    });
  }

  private withDefaults({ kind }: Configuration, webhook: Webhook): object {
    return {
      matchPolicy: 'Equivalent',
      namespaceSelector: {},
      objectSelector: {},
      timeoutSeconds: 10,
      ...(kind === 'MutatingWebhookConfiguration' && { reinvocationPolicy: 'Never' }),
      ...webhook,
      rules: webhook.rules.map((rule) => ({ scope: '*', ...rule })),
      clientConfig: {
        service: { ...webhook.clientConfig.service, port: address === undefined ? this.webhooks.port : 443 },
        caBundle: this.webhooks.caBundle,
      },
    };
  }

  async stop(): Promise<void> {
    await this.server.stop();
    await this.webhooks.stop();
  }
}

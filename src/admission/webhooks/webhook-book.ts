import type { MutatingWebhookConfiguration } from '../../catalog/types/admissionregistration.v1.js';
import { stringifyJson } from '../../codec/json.js';
import type { Served } from '../../registry/resource-registry.js';
import { YieldTimer } from '../../std/yield-timer.js';
import type { WebhookAddress, WebhookClient } from '../../webhook-client/webhook-client.js';
import type { AdmissionOperation } from '../admission-operation.js';
import type { PluginDependencies } from '../plugin-dependencies.js';
import { RuleCandidates } from '../request/rule-candidates.js';
import type { WebhookType } from './webhook-dependencies.js';
import { compileWebhooks, type CompiledWebhook } from './compiled-webhook.js';

type Dependencies = Pick<PluginDependencies, 'policyObjects' | 'naming' | 'clock' | 'webhooks'>;

const pluralOf: Readonly<Record<WebhookType, string>> = {
  admit: 'mutatingwebhookconfigurations',
  validating: 'validatingwebhookconfigurations',
};

const none: readonly CompiledWebhook[] = [];

/**
 * The webhooks of all configurations of one kind, kept from the cache: ordered by the name of the configuration, then as
 * in it. A configuration is compiled once, after its change and beside requests; writes wait for it, so that a change is
 * in force for all that come after its event. At a start, they wait until the stored configurations are known.
 */
export class WebhookBook {
  private readonly configurations = new Map<string, MutatingWebhookConfiguration>();
  private readonly compiled = new Map<MutatingWebhookConfiguration, readonly CompiledWebhook[]>();
  private clients = new Map<string, WebhookClient>();
  private webhooks: readonly CompiledWebhook[] = none;
  private candidates = this.candidatesOf(none);
  private updating: Promise<void> | undefined;
  private isOutdated = false;
  private readonly loads: Promise<void>[] = [];

  constructor(
    private readonly dependencies: Dependencies,
    private readonly type: WebhookType,
  ) {
    const { policyObjects, naming } = dependencies;
    policyObjects.follow(naming.group('admissionregistration'), 'v1', pluralOf[type], {
      loading: (ready) => {
        this.loads.push(ready.catch(() => undefined));
        this.outdate();
      },
      changed: (name, configuration: MutatingWebhookConfiguration) => {
        this.forget(name);
        this.configurations.set(name, configuration);
        this.outdate();
      },
      deleted: (name) => {
        this.forget(name);
        this.outdate();
      },
    });
  }

  /** Resolves when changed configurations are compiled; undefined if none is being compiled. */
  whenCurrent(): Promise<void> | undefined {
    return this.updating;
  }

  get isEmpty(): boolean {
    return this.webhooks.length === 0;
  }

  /** Returns the webhooks of whose rules one may select the resource or one of its subresources, in any version. */
  webhooksFor(served: Served, operation: AdmissionOperation): readonly CompiledWebhook[] {
    return this.candidates.of(served, operation);
  }

  private candidatesOf(webhooks: readonly CompiledWebhook[]): RuleCandidates<CompiledWebhook> {
    // Without rules, a webhook is never called.
    const withRules = webhooks.filter(({ rules }) => rules.length > 0);
    return new RuleCandidates(
      withRules,
      ({ match }) => match,
      (served) => this.dependencies.policyObjects.equivalentsOf(served),
    );
  }

  private forget(name: string): void {
    const before = this.configurations.get(name);
    if (before) this.compiled.delete(before);
    this.configurations.delete(name);
  }

  private outdate(): void {
    this.isOutdated = true;
    this.updating ??= this.update();
  }

  private async update(): Promise<void> {
    const timer = new YieldTimer(this.dependencies.clock);
    // Leaves the event of the cache, which must not wait for compilations.
    await timer.yield();
    while (this.isOutdated) {
      this.isOutdated = false;
      await Promise.all(this.loads.splice(0));
      const webhooks = await this.compileAll(timer);
      if (this.isOutdated) continue;
      this.webhooks = webhooks;
      this.candidates = this.candidatesOf(webhooks);
      this.closeUnused(webhooks);
    }
    this.updating = undefined;
  }

  private async compileAll(timer: YieldTimer): Promise<readonly CompiledWebhook[]> {
    const all: CompiledWebhook[] = [];
    for (const name of [...this.configurations.keys()].sort()) {
      const configuration = this.configurations.get(name);
      if (!configuration) continue;
      let compiled = this.compiled.get(configuration);
      if (!compiled) {
        compiled = await timer.run(compileWebhooks(configuration, (address) => this.clientOf(address)));
        if (this.configurations.get(name) === configuration) this.compiled.set(configuration, compiled);
      }
      for (const webhook of compiled) all.push(webhook);
    }
    return all;
  }

  /** Webhooks with the same address share their connections, also after other changes of their configuration. */
  private clientOf({ url, service, caBundle }: WebhookAddress): WebhookClient {
    const key = stringifyJson([url, service, caBundle]);
    let client = this.clients.get(key);
    if (!client) {
      client = this.dependencies.webhooks.clientOf(this.type, { url, service, caBundle });
      this.clients.set(key, client);
    }
    return client;
  }

  private closeUnused(webhooks: readonly CompiledWebhook[]): void {
    const used = new Set(webhooks.map(({ client }) => client));
    for (const [key, client] of this.clients) {
      if (used.has(client)) continue;
      this.clients.delete(key);
      client.close();
    }
  }
}

import type { CacheEvent } from '../../cache/cache-event.js';
import type { EncodedObject } from '../../cache/encoded-object.js';
import type { Secret, ServiceAccount } from '../../catalog/types/core.v1.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import type { ServedResource } from '../../registry/resource-registry.js';
import { defineReconciler, idle, type ReconcilerDependencies, type RunningReconciler } from '../reconciler.js';
import { accountNameOf, decide, filled, tokenSecretType, withoutSecret, type TokenSecretRules } from './decide.js';

/**
 * Fills Secrets of type service-account-token, and deletes them when their service account is deleted. Does nothing with
 * --service-account-signing-endpoint, as kube-controller-manager without a key: an external signer signs tokens that
 * expire.
 */
export const serviceAccountTokens = defineReconciler({
  name: 'serviceaccount-token-controller',
  runs: 'by default',
  runsOn: 'leader',
  yieldsToUpstream: true,
  start: (dependencies) =>
    dependencies.config.authentication.serviceAccount.signingEndpoint === undefined
      ? new ServiceAccountTokenSecrets(dependencies)
      : idle,
});

const workersMax = 5;

class ServiceAccountTokenSecrets implements RunningReconciler {
  private readonly secrets: ServedResource;
  private readonly accounts: ServedResource;
  /** Items are `namespace/name` of a Secret. */
  private readonly queue;
  /** Items are `namespace/secret/account`: a service account that may refer to a deleted Secret. */
  private readonly references;
  private readonly ends: (() => void)[];

  constructor(private readonly dependencies: ReconcilerDependencies) {
    this.secrets = dependencies.registry.require('', 'v1', 'secrets');
    this.accounts = dependencies.registry.require('', 'v1', 'serviceaccounts');
    this.queue = dependencies.queue('serviceaccount_tokens_secret', (key, signal) => this.reconcile(key, signal), {
      workersMax,
    });
    this.references = dependencies.queue('serviceaccount_tokens_service', (key, signal) => this.forget(key, signal), {
      workersMax,
    });
    this.ends = [
      dependencies.server.rootCa.onChange(() => this.checkSecrets('')),
      this.secrets.store.cache.observe({
        changed: (event) => this.secretChanged(event),
        reset: () => this.checkSecrets(''),
      }),
      this.accounts.store.cache.observe({
        changed: ({ current, previous }) => {
          const { namespace, uid } = (current ?? previous)!.attributes;
          if (!current || (previous && previous.attributes.uid !== uid)) this.checkSecrets(namespace);
        },
        reset: () => this.checkSecrets(''),
      }),
    ];
  }

  async stop(): Promise<void> {
    for (const end of this.ends) end();
    await Promise.all([this.queue.stop(), this.references.stop()]);
  }

  private secretChanged({ current, previous }: CacheEvent): void {
    if (current) return this.check(current);
    if (!previous || !this.holdsToken(previous)) return;
    const { namespace, name } = previous.attributes;
    this.references.add(`${namespace}/${name}/${accountNameOf(previous.parse(), this.rules.naming)}`);
  }

  /** Queues the Secrets of a namespace, or of all namespaces for ''. */
  private checkSecrets(namespace: string): void {
    const { store } = this.secrets;
    for (const secret of store.cache.snapshot().range(store.scopeOf(namespace))) this.check(secret);
  }

  private check(secret: EncodedObject): void {
    const { namespace, name } = secret.attributes;
    if (this.holdsToken(secret)) this.queue.add(`${namespace}/${name}`);
  }

  private async reconcile(key: string, signal: AbortSignal): Promise<void> {
    const { client } = this.dependencies;
    const [namespace = '', name = ''] = key.split('/');
    const secret: Secret | undefined = this.cached(this.secrets, namespace, name);
    if (secret?.type !== tokenSecretType(this.rules.naming)) return;
    const { account, verdict } = await this.decide(secret, namespace, signal);
    const ref = { served: this.secrets, namespace, name };
    // Fails if the Secret has changed since the decision.
    const { uid, resourceVersion } = secret.metadata;
    const preconditions = { uid, resourceVersion };
    if (verdict === 'delete') await client.delete(ref, { preconditions }, signal);
    if (!account || (verdict !== 'fill' && verdict !== 'fill with a token')) return;
    const token = verdict === 'fill' ? undefined : await this.issue(secret, account);
    await client.change(ref, (current: Secret) => filled(current, account, token, this.rules), {
      preconditions,
      signal,
    });
  }

  /** Decides from the cache, except that the store is read for the service account before a Secret is deleted. */
  private async decide(secret: Secret, namespace: string, signal: AbortSignal) {
    const name = accountNameOf(secret, this.rules.naming);
    const known = this.cached(this.accounts, namespace, name);
    const verdict = decide(secret, known, this.rules);
    if (verdict !== 'delete' || name === '') return { account: known, verdict };
    const account = await this.dependencies.client.live({ served: this.accounts, namespace, name }, signal);
    return { account, verdict: decide(secret, account, this.rules) };
  }

  private issue(secret: Secret, { metadata }: ServiceAccount): Promise<string> {
    return this.dependencies.secretTokens.issue({
      namespace: metadata.namespace ?? '',
      account: { name: metadata.name ?? '', uid: metadata.uid ?? '' },
      secretName: secret.metadata.name ?? '',
    });
  }

  private async forget(key: string, signal: AbortSignal): Promise<void> {
    const [namespace = '', secretName = '', name = ''] = key.split('/', 3);
    const account: ServiceAccount | undefined = this.cached(this.accounts, namespace, name);
    if (!account || withoutSecret(account, secretName) === account) return;
    // The Secret was created again.
    if (this.cached(this.secrets, namespace, secretName)) return;
    const ref = { served: this.accounts, namespace, name };
    const preconditions = { uid: account.metadata.uid };
    await this.dependencies.client.change(ref, (current: ServiceAccount) => withoutSecret(current, secretName), {
      preconditions,
      signal,
    });
  }

  private cached({ store }: ServedResource, namespace: string, name: string): KubeObject | undefined {
    const found = store.cache.get(store.keyOf(namespace, name));
    return found && !found.corruption ? found.parse() : undefined;
  }

  private holdsToken({ attributes, corruption }: EncodedObject): boolean {
    return !corruption && attributes.fields['type'] === tokenSecretType(this.rules.naming);
  }

  private get rules(): TokenSecretRules {
    const { config, server, upstream } = this.dependencies;
    const keepsRootCa = upstream.isActive();
    return { naming: config.naming, rootCaPem: server.rootCa.current(), keepsRootCa };
  }
}

import type { CacheEvent } from '../../cache/cache-event.js';
import type { EncodedObject } from '../../cache/encoded-object.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import type { ServedResource } from '../../registry/resource-registry.js';
import type { Reconciler, ReconcilerParts, RunningReconciler } from '../reconciler.js';
import { accountNameOf, decide, filled, tokenSecretType, withoutSecret, type TokenSecretRules } from './decide.js';

/** Fills the Secrets that are to hold the token of an account, and takes them away with the account. */
export const serviceAccountTokens: Reconciler = {
  name: 'serviceaccount-token-controller',
  yieldsToUpstream: true,
  start: (parts) => new ServiceAccountTokenSecrets(parts),
};

const workersMax = 5;

class ServiceAccountTokenSecrets implements RunningReconciler {
  private readonly secrets: ServedResource;
  private readonly accounts: ServedResource;
  /** `namespace/name` of a Secret. */
  private readonly queue;
  /** `namespace/secret/account`: an account that may still name a Secret that is gone. */
  private readonly references;
  private readonly ends: (() => void)[];

  constructor(private readonly parts: ReconcilerParts) {
    this.secrets = parts.registry.require('', 'v1', 'secrets');
    this.accounts = parts.registry.require('', 'v1', 'serviceaccounts');
    this.queue = parts.queue('serviceaccount_tokens_secret', (key, signal) => this.reconcile(key, signal), {
      workersMax,
    });
    this.references = parts.queue('serviceaccount_tokens_service', (key, signal) => this.forget(key, signal), {
      workersMax,
    });
    this.ends = [
      parts.server.rootCa.onChange(() => this.lookAtSecrets('')),
      this.secrets.store.cache.observe({
        changed: (event) => this.secretChanged(event),
        reset: () => this.lookAtSecrets(''),
      }),
      this.accounts.store.cache.observe({
        changed: ({ current, previous }) => {
          const { namespace, uid } = (current ?? previous)!.attributes;
          if (!current || (previous && previous.attributes.uid !== uid)) this.lookAtSecrets(namespace);
        },
        reset: () => this.lookAtSecrets(''),
      }),
    ];
  }

  async stop(): Promise<void> {
    for (const end of this.ends) end();
    await Promise.all([this.queue.stop(), this.references.stop()]);
  }

  private secretChanged({ current, previous }: CacheEvent): void {
    if (current) return this.look(current);
    if (!previous || !this.holdsToken(previous)) return;
    const { namespace, name } = previous.attributes;
    this.references.add(`${namespace}/${name}/${accountNameOf(previous.parse(), this.rules.naming)}`);
  }

  /** Those of a namespace, or all. */
  private lookAtSecrets(namespace: string): void {
    const { store } = this.secrets;
    for (const secret of store.cache.snapshot().range(store.scopeOf(namespace))) this.look(secret);
  }

  private look(secret: EncodedObject): void {
    const { namespace, name } = secret.attributes;
    if (this.holdsToken(secret)) this.queue.add(`${namespace}/${name}`);
  }

  private async reconcile(key: string, signal: AbortSignal): Promise<void> {
    const { client } = this.parts;
    const [namespace = '', name = ''] = key.split('/');
    const secret = this.cached(this.secrets, namespace, name);
    if (secret?.['type'] !== tokenSecretType(this.rules.naming)) return;
    const { account, verdict } = await this.judge(secret, namespace, signal);
    const place = { served: this.secrets, namespace, name };
    // Whoever is faster changes what this was decided from.
    const { uid, resourceVersion } = secret.metadata;
    const preconditions = { uid, resourceVersion };
    if (verdict === 'delete') await client.delete(place, { preconditions }, signal);
    if (!account || (verdict !== 'fill' && verdict !== 'fill with a token')) return;
    const token = verdict === 'fill' ? undefined : await this.issue(secret, account);
    await client.change(place, (current) => filled(current, account, token, this.rules), { preconditions, signal });
  }

  /** What memory says is enough to leave or fill a Secret; before one is deleted the store is asked for its account. */
  private async judge(secret: KubeObject, namespace: string, signal: AbortSignal) {
    const name = accountNameOf(secret, this.rules.naming);
    const known = this.cached(this.accounts, namespace, name);
    const verdict = decide(secret, known, this.rules);
    if (verdict !== 'delete' || name === '') return { account: known, verdict };
    const account = await this.parts.client.live({ served: this.accounts, namespace, name }, signal);
    return { account, verdict: decide(secret, account, this.rules) };
  }

  private issue(secret: KubeObject, { metadata }: KubeObject): Promise<string> {
    return this.parts.secretTokens.issue({
      namespace: metadata.namespace ?? '',
      account: { name: metadata.name ?? '', uid: metadata.uid ?? '' },
      secretName: secret.metadata.name ?? '',
    });
  }

  private async forget(key: string, signal: AbortSignal): Promise<void> {
    const [namespace = '', secretName = '', name = ''] = key.split('/', 3);
    const account = this.cached(this.accounts, namespace, name);
    if (!account || withoutSecret(account, secretName) === account) return;
    // One of the same name stands there again.
    if (this.cached(this.secrets, namespace, secretName)) return;
    const place = { served: this.accounts, namespace, name };
    const preconditions = { uid: account.metadata.uid };
    await this.parts.client.change(place, (current) => withoutSecret(current, secretName), { preconditions, signal });
  }

  private cached({ store }: ServedResource, namespace: string, name: string): KubeObject | undefined {
    const found = store.cache.get(store.keyOf(namespace, name));
    return found && !found.corruption ? found.parse() : undefined;
  }

  private holdsToken({ attributes, corruption }: EncodedObject): boolean {
    return !corruption && attributes.fields['type'] === tokenSecretType(this.rules.naming);
  }

  private get rules(): TokenSecretRules {
    const { config, server, upstream } = this.parts;
    const keepsAuthority = upstream.isActive();
    return { naming: config.naming, authorityPem: server.rootCa.current(), keepsAuthority };
  }
}

import type { EncodedObject } from '../../cache/encoded-object.js';
import type { ConfigMap } from '../../catalog/types/core.v1.js';
import { signerKeys, type SignerKey } from '../../config/flags/cluster.js';
import type { ServedResource } from '../../registry/resource-registry.js';
import { YieldTimer } from '../../std/yield-timer.js';
import { followNames } from '../follow.js';
import { defineReconciler, type ReconcilerDependencies, type RunningReconciler } from '../reconciler.js';
import { clusterInfoName, roomForSignatures, signatureKey, signedTextOf, withSignatures } from './decide.js';
import { detachedJws, jwsPayload } from './detached-jws.js';
import { followTokenSecrets, tokenSecretFilter } from './follow-token-secrets.js';
import { keyOf, signingTokenOf, type SigningToken } from './signing-tokens.js';

/** Signs the kubeconfig in the ConfigMap cluster-info with each bootstrap token that may be used for it. */
export const bootstrapSigner = defineReconciler({
  name: 'bootstrap-signer-controller',
  runs: 'if enabled',
  runsOn: 'leader',
  role: 'bootstrap-signer',
  yieldsToUpstream: true,
  start: (dependencies) => new ClusterInfoSigner(dependencies),
});

/** Bytes of a signature: those of all tokens are equally long, since their ids are. */
const signatureBytes = detachedJws(Buffer.alloc(0), '000000', Buffer.alloc(1)).length;

class ClusterInfoSigner implements RunningReconciler {
  private readonly secrets: ServedResource;
  private readonly configMaps: ServedResource;
  private readonly namespace: string;
  /** The one item is the name of the ConfigMap. */
  private readonly queue;
  private readonly ends: (() => void)[];
  /** Tokens of Secrets that were parsed; null for those that cannot sign. */
  private readonly parsed = new WeakMap<EncodedObject, SigningToken | null>();
  private signatures = new Signatures('');

  constructor(private readonly dependencies: ReconcilerDependencies) {
    const { config, registry } = dependencies;
    this.secrets = registry.require('', 'v1', 'secrets');
    this.configMaps = registry.require('', 'v1', 'configmaps');
    this.namespace = config.naming.systemNamespace('public');
    this.queue = dependencies.queue('bootstrap_signer_queue', (_name, signal) => this.reconcile(signal));
    const check = () => this.queue.add(clusterInfoName);
    this.ends = [
      followTokenSecrets(this.secrets, config.naming, check),
      followNames(this.configMaps, (namespace, name) => {
        if (name === clusterInfoName && namespace === this.namespace) check();
      }),
    ];
  }

  async stop(): Promise<void> {
    for (const end of this.ends) end();
    await this.queue.stop();
  }

  private async reconcile(signal: AbortSignal): Promise<void | { readonly againInMs: number }> {
    const { client, clock, logger } = this.dependencies;
    const { store } = this.configMaps;
    const found = store.cache.get(store.keyOf(this.namespace, clusterInfoName));
    if (!found || found.corruption) return;
    const tokens = await this.tokens();
    const info: ConfigMap = found.parse();
    if ((await this.signed(info, tokens)) !== info) {
      const ref = { served: this.configMaps, namespace: this.namespace, name: clusterInfoName };
      await client.change(ref, (current: ConfigMap) => this.signed(current, tokens), { signal });
      const room = roomForSignatures(info, signatureBytes);
      if (room < tokens.length) {
        logger.warn('cluster-info has no room for the signatures of all bootstrap tokens; delete tokens', {
          signed: room,
          tokens: tokens.length,
        });
      }
    }
    const endMs = tokens.reduce((firstMs, token) => Math.min(firstMs, token.endMs), Infinity);
    return endMs === Infinity ? undefined : { againInMs: Math.max(0, endMs - clock.now()) };
  }

  /** Returns the tokens that are valid now, by their ids. */
  private async tokens(): Promise<SigningToken[]> {
    const { config, clock } = this.dependencies;
    const { store } = this.secrets;
    const isToken = tokenSecretFilter(config.naming);
    const timer = new YieldTimer(clock);
    const tokens: SigningToken[] = [];
    for (const secret of store.cache.snapshot().range(store.scopeOf(config.naming.systemNamespace('system')))) {
      if (!isToken(secret)) continue;
      if (timer.isDue()) await timer.yield();
      const token = this.tokenOf(secret);
      if (token && token.endMs > clock.now()) tokens.push(token);
    }
    return tokens;
  }

  private tokenOf(secret: EncodedObject): SigningToken | null {
    let token = this.parsed.get(secret);
    if (token === undefined) this.parsed.set(secret, (token = signingTokenOf(secret.parse()) ?? null));
    return token;
  }

  private async signed(info: ConfigMap, tokens: readonly SigningToken[]): Promise<ConfigMap> {
    const { clock } = this.dependencies;
    const text = signedTextOf(info);
    if (text === undefined) return info;
    if (this.signatures.text !== text) this.signatures = new Signatures(text);
    const { signatures } = this;
    const room = roomForSignatures(info, signatureBytes);
    const timer = new YieldTimer(clock);
    const wanted = new Map<string, string>();
    for (const token of tokens.slice(0, room)) {
      if (timer.isDue()) await timer.yield();
      const key = signatureKey(token.id);
      // A ConfigMap cannot have a key twice.
      if (Object.hasOwn(info.binaryData ?? {}, key)) continue;
      const before = info.data?.[key];
      wanted.set(
        token.id,
        this.acceptedKeys.map((by) => signatures.of(token, by)).find((text) => text === before) ??
          signatures.of(token, this.signerKey),
      );
    }
    return withSignatures(info, wanted);
  }

  private get signerKey(): SignerKey {
    return this.dependencies.config.reconcilers.bootstrapSignerKey;
  }

  /** The keys whose signatures are kept: beside a kube-controller-manager, which may sign too, any. */
  private get acceptedKeys(): readonly SignerKey[] {
    return this.dependencies.upstream.isActive() ? signerKeys : [this.signerKey];
  }
}

/** The signatures of one text, each computed once. */
class Signatures {
  private readonly payload: Buffer;
  private readonly known: Record<SignerKey, WeakMap<SigningToken, string>> = {
    token: new WeakMap(),
    secret: new WeakMap(),
  };

  constructor(readonly text: string) {
    this.payload = jwsPayload(text);
  }

  of(token: SigningToken, signerKey: SignerKey): string {
    const known = this.known[signerKey];
    let signature = known.get(token);
    if (signature === undefined) {
      known.set(token, (signature = detachedJws(this.payload, token.id, keyOf(token, signerKey))));
    }
    return signature;
  }
}

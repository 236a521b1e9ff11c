import type { NamingProfile } from '../../config/naming-profile.js';
import { asFields, asItems, asText, makeFields } from '../../machinery/fields.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import { sleep, type Clock } from '../../std/clock.js';
import type { Rng } from '../../std/rng.js';
import type { AdmissionAttributes, AdmissionPlugin } from '../admission-plugin.js';
import { newPodOf } from '../matching.js';
import { find, type ObjectReader } from '../object-reader.js';
import { isMirrorPod } from '../pods/containers.js';
import { forbid } from '../refusal.js';
import { refusedReference } from '../service-account/mountable-secrets.js';
import { podSecretNames } from '../service-account/pod-secrets.js';
import { mountToken, tokenMountOf } from '../service-account/token-volume.js';

const accounts = { group: '', resource: 'serviceaccounts' };
const defaultName = 'default';
/** A namespace's own account is made when the namespace is: whoever is as fast as that waits a little. */
const attemptsForDefault = 10;
const attemptDelayMs = 100;

interface Parts {
  readonly objects: ObjectReader;
  readonly naming: NamingProfile;
  readonly clock: Clock;
  readonly rng: Rng;
}

/** Every Pod acts as an account of its namespace, gets a token for it, and may pull images with the account's secrets. */
export function serviceAccount({ objects, naming, clock, rng }: Parts): AdmissionPlugin {
  const mirror = naming.label('config.mirror');
  const enforcesSecrets = naming.label('enforce-mountable-secrets');
  const token = tokenMountOf(naming);

  async function accountOf(attributes: AdmissionAttributes, name: string): Promise<KubeObject> {
    const { namespace, request } = attributes;
    let account = await find(objects, accounts, namespace, name, request.signal);
    for (let attempt = 1; !account && name === defaultName && attempt < attemptsForDefault; attempt++) {
      await sleep(clock, attemptDelayMs, request.signal);
      account = await find(objects, accounts, namespace, name, request.signal);
    }
    if (account) return account;
    throw forbid(
      attributes,
      `error looking up service account ${namespace}/${name}: serviceaccount "${name}" not found`,
    );
  }

  return {
    name: 'ServiceAccount',
    async admit(attributes) {
      const pod = newPodOf(attributes);
      if (!pod || isMirrorPod(pod, mirror)) return;
      const spec = makeFields(pod, 'spec');
      const name = asText(spec['serviceAccountName']) || defaultName;
      // The old name of the field is kept equal to it.
      spec['serviceAccountName'] = name;
      spec['serviceAccount'] = name;
      const account = await accountOf(attributes, name);
      if (automounts(spec, account)) mountToken(spec, token, rng);
      if (asItems(spec['imagePullSecrets']).length > 0) return;
      const secrets = asItems(account['imagePullSecrets']);
      if (secrets.length > 0) spec['imagePullSecrets'] = secrets.map((secret) => ({ name: asText(secret['name']) }));
    },
    async validate(attributes) {
      const pod = newPodOf(attributes) ?? debuggedPodOf(attributes);
      if (!pod) return;
      const spec = asFields(pod['spec']);
      const name = asText(spec['serviceAccountName']);
      if (isMirrorPod(pod, mirror)) return refuseMirror(attributes, spec);
      if (name === '') {
        throw forbid(attributes, `no service account specified for pod ${attributes.namespace}/${attributes.name}`);
      }
      const account = await accountOf(attributes, name);
      if (account.metadata.annotations?.[enforcesSecrets] !== 'true') return;
      const problem = refusedReference(spec, account, attributes.subresource === 'ephemeralcontainers');
      if (problem !== undefined) throw forbid(attributes, problem);
    },
  };
}

/** The Pod that gets a container for looking into it. */
function debuggedPodOf({ resource, subresource, operation, object }: AdmissionAttributes): KubeObject | undefined {
  const isDebug = resource.group === '' && resource.resource === 'pods' && subresource === 'ephemeralcontainers';
  return isDebug && operation === 'UPDATE' ? object : undefined;
}

/** The Pod's own word goes before its account's. */
function automounts(spec: Record<string, unknown>, account: KubeObject): boolean {
  return (spec['automountServiceAccountToken'] ?? account['automountServiceAccountToken'] ?? true) !== false;
}

/** Its containers run already, with what the node has: what only the server could give them, they cannot have. */
function refuseMirror(attributes: AdmissionAttributes, spec: Record<string, unknown>): void {
  if (asText(spec['serviceAccountName']) !== '') {
    throw forbid(attributes, 'a mirror pod may not reference service accounts');
  }
  if (podSecretNames(spec).length > 0) throw forbid(attributes, 'a mirror pod may not reference secrets');
  const sources = asItems(spec['volumes']).flatMap((volume) => asItems(asFields(volume['projected'])['sources']));
  if (sources.some(({ serviceAccountToken }) => serviceAccountToken !== undefined)) {
    throw forbid(attributes, 'a mirror pod may not use ServiceAccountToken volume projections');
  }
}

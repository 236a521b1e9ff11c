import type { Pod, PodSpec, ServiceAccount } from '../../catalog/types/core.v1.js';
import { sleep } from '../../std/clock.js';
import { defineAdmissionPlugin, type AdmissionAttributes, type AdmissionHooks } from '../admission-plugin.js';
import { isAbout, newPodOf, onlyPods } from '../matching.js';
import { find } from '../object-reader.js';
import type { PluginDependencies } from '../plugin-dependencies.js';
import { isMirrorPod } from '../../pods/containers.js';
import { forbid } from '../refusal.js';
import { refusedReference } from '../service-account/mountable-secrets.js';
import { podSecretNames } from '../../pods/pod-secrets.js';
import { mountToken, tokenMountOf } from '../service-account/token-volume.js';

const accounts = { group: '', resource: 'serviceaccounts' };
const defaultName = 'default';
/** A controller creates the default service account after the namespace, so that a Pod may have to wait for it. */
const attemptsForDefault = 10;
const attemptDelayMs = 100;

/** Sets the service account of new Pods, mounts its token and adds its imagePullSecrets. */
export const serviceAccount = defineAdmissionPlugin({
  name: 'ServiceAccount',
  runs: 'by default',
  make: makeServiceAccount,
});

function makeServiceAccount({ objects, naming, clock, rng }: PluginDependencies): AdmissionHooks {
  const mirrorAnnotation = naming.label('config.mirror');
  const enforcesSecrets = naming.label('enforce-mountable-secrets');
  const token = tokenMountOf(naming);

  async function accountOf(attributes: AdmissionAttributes, name: string): Promise<ServiceAccount> {
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
    resources: onlyPods,
    actsOnUnchanged: ({ subresource }) => subresource === 'ephemeralcontainers',
    async admit(attributes) {
      const pod = newPodOf(attributes);
      if (!pod || isMirrorPod(pod, mirrorAnnotation)) return;
      const spec = (pod.spec ??= {});
      const name = spec.serviceAccountName || defaultName;
      spec.serviceAccountName = name;
      // The deprecated field has the same value.
      spec.serviceAccount = name;
      const account = await accountOf(attributes, name);
      if (automounts(spec, account)) mountToken(spec, token, rng);
      if ((spec.imagePullSecrets ?? []).length > 0) return;
      const secrets = account.imagePullSecrets ?? [];
      if (secrets.length > 0) spec.imagePullSecrets = secrets.map((secret) => ({ name: secret.name ?? '' }));
    },
    async validate(attributes) {
      const pod = newPodOf(attributes) ?? debuggedPodOf(attributes);
      if (!pod) return;
      const { spec = {} } = pod;
      const name = spec.serviceAccountName ?? '';
      if (isMirrorPod(pod, mirrorAnnotation)) return refuseMirrorPod(attributes, spec);
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

/** Returns the Pod of an update that adds ephemeral containers. */
function debuggedPodOf(attributes: AdmissionAttributes): Pod | undefined {
  return isAbout(attributes, '', 'pods', ['UPDATE'], 'ephemeralcontainers') ? attributes.object : undefined;
}

/** The field of the Pod takes precedence over that of the service account. */
function automounts(spec: PodSpec, account: ServiceAccount): boolean {
  return spec.automountServiceAccountToken ?? account.automountServiceAccountToken ?? true;
}

/** Refuses references that the server would resolve: the containers of a mirror Pod run already. */
function refuseMirrorPod(attributes: AdmissionAttributes, spec: PodSpec): void {
  if (spec.serviceAccountName) throw forbid(attributes, 'a mirror pod may not reference service accounts');
  if (podSecretNames(spec).length > 0) throw forbid(attributes, 'a mirror pod may not reference secrets');
  const sources = (spec.volumes ?? []).flatMap(({ projected }) => projected?.sources ?? []);
  if (sources.some(({ serviceAccountToken }) => serviceAccountToken !== undefined)) {
    throw forbid(attributes, 'a mirror pod may not use ServiceAccountToken volume projections');
  }
}

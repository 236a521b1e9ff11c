import type { Pod, PodSpec, PodStatus } from '../catalog/types/core.v1.js';
import { containersOf } from './containers.js';
import { podSecretNames } from './pod-secrets.js';

/** Names of the objects in its namespace that a Pod refers to. */
export interface PodReferences {
  readonly secrets: ReadonlySet<string>;
  readonly configMaps: ReadonlySet<string>;
  readonly claims: ReadonlySet<string>;
  readonly resourceClaims: ReadonlySet<string>;
  readonly serviceAccounts: ReadonlySet<string>;
}

const none: ReadonlySet<string> = new Set();
export const noReferences: PodReferences = {
  secrets: none,
  configMaps: none,
  claims: none,
  resourceClaims: none,
  serviceAccounts: none,
};

export function podReferences({ metadata, spec = {}, status = {} }: Pod): PodReferences {
  return {
    secrets: new Set(podSecretNames(spec)),
    configMaps: setOf(configMapNames(spec)),
    claims: setOf(claimNames(metadata.name ?? '', spec)),
    resourceClaims: setOf(resourceClaimNames(spec, status)),
    serviceAccounts: setOf([spec.serviceAccountName]),
  };
}

const setOf = (names: readonly (string | undefined)[]): ReadonlySet<string> =>
  new Set(names.flatMap((name) => name || []));

function configMapNames(spec: PodSpec): (string | undefined)[] {
  return [
    ...containersOf(spec).flatMap(({ env = [], envFrom = [] }) => [
      ...envFrom.map(({ configMapRef }) => configMapRef?.name),
      ...env.map(({ valueFrom }) => valueFrom?.configMapKeyRef?.name),
    ]),
    ...(spec.volumes ?? []).flatMap(({ configMap, projected }) => [
      configMap?.name,
      ...(projected?.sources ?? []).map((source) => source.configMap?.name),
    ]),
  ];
}

/** The claim of an ephemeral volume is named after its Pod. */
function claimNames(podName: string, { volumes = [] }: PodSpec): (string | undefined)[] {
  return volumes.map(({ name = '', persistentVolumeClaim, ephemeral }) =>
    ephemeral ? `${podName}-${name}` : persistentVolumeClaim?.claimName,
  );
}

function resourceClaimNames(
  { resourceClaims = [] }: PodSpec,
  { resourceClaimStatuses, extendedResourceClaimStatus }: PodStatus,
): (string | undefined)[] {
  const created = new Map((resourceClaimStatuses ?? []).map((claim) => [claim.name, claim.resourceClaimName]));
  return [
    ...resourceClaims.map(({ name, resourceClaimName }) => resourceClaimName ?? created.get(name)),
    extendedResourceClaimStatus?.resourceClaimName,
  ];
}

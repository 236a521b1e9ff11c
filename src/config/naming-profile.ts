import { Matches } from 'class-validator';
import { ownYaml } from './config-files.js';
import { IsDomain } from './constraints.js';
import { namingProfiles } from './flags/cluster.js';

export type NamingProfileName = (typeof namingProfiles)[number];

export interface NamingOverrides {
  readonly apiDomain?: string | undefined;
  readonly labelDomain?: string | undefined;
}

/**
 * Formats built-in names (API groups, labels, namespaces), which are configurable and never literals in the code.
 *   kubernetes: rbac.authorization.k8s.io, kubernetes.io/metadata.name, kube-system
 *   svc:        rbac.authorization.<domain>, <domain>/metadata.name,     svc-system
 */
export class NamingProfile {
  readonly profile!: string;
  @IsDomain() readonly apiDomain!: string;
  @IsDomain() readonly labelDomain!: string;
  @Matches(/^[a-z]([-a-z0-9]*[a-z0-9])?$/) readonly systemPrefix!: string;
  @Matches(/^[a-z]([-a-z0-9]*[a-z0-9])?$/) readonly serviceName!: string;
  @Matches(/^[a-z]+\/[-a-z0-9.+]+$/) readonly protobufMediaType!: string;
  @Matches(/^[A-Z][A-Z0-9_]*$/) readonly execInfoVariable!: string;

  /** `rbac.authorization` → `rbac.authorization.k8s.io`. The undotted groups (apps, batch, ...) have no domain. */
  group(stem: string): string {
    return `${stem}.${this.apiDomain}`;
  }

  /** Label or annotation of the API machinery: `initial-events-end` → `k8s.io/initial-events-end`. */
  apiLabel(name: string): string {
    return `${this.apiDomain}/${name}`;
  }

  /** `metadata.name` → `kubernetes.io/metadata.name`; (`token`, `bootstrap`) → `bootstrap.kubernetes.io/token`. */
  label(name: string, subdomain?: string): string {
    return `${subdomain === undefined ? '' : `${subdomain}.`}${this.labelDomain}/${name}`;
  }

  /** `system` → `kube-system`; likewise `public` and `node-lease`. */
  systemNamespace(name: 'system' | 'public' | 'node-lease'): string {
    return this.systemName(name);
  }

  /** `root-ca.crt` → `kube-root-ca.crt`; `controller-manager` → `kube-controller-manager`. */
  systemName(name: string): string {
    return `${this.systemPrefix}-${name}`;
  }
}

const profiles = new Map<string, NamingProfile>();

/**
 * Returns a profile with overrides. --api-domain alone also sets the label domain. Equal profiles of a process are one
 * frozen object: what depends on names alone (the catalog, definitions, initial roles) is computed once for each.
 */
export function namingProfile(name: NamingProfileName, overrides: NamingOverrides = {}): NamingProfile {
  const { apiDomain, labelDomain = apiDomain } = overrides;
  const given = [apiDomain, labelDomain].map((domain) => (domain === undefined ? '' : `=${domain}`));
  const key = [name, ...given].join('\n');
  let profile = profiles.get(key);
  if (!profile) profiles.set(key, (profile = Object.freeze(makeProfile(name, { apiDomain, labelDomain }))));
  return profile;
}

function makeProfile(name: NamingProfileName, { apiDomain, labelDomain }: NamingOverrides): NamingProfile {
  return Object.assign(new NamingProfile(), ownYaml(`naming/${name}.yaml`), {
    profile: name,
    ...(apiDomain !== undefined && { apiDomain }),
    ...(labelDomain !== undefined && { labelDomain }),
  });
}

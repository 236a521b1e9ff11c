import type { Pod } from '../../catalog/types/core.v1.js';
import type { NamingProfile } from '../../config/naming-profile.js';
import { ApiError } from '../../machinery/api-error.js';
import { deepEqual } from '../../machinery/deep-equal.js';
import { YieldTimer } from '../../std/yield-timer.js';
import { defineAdmissionPlugin, type AdmissionAttributes, type AdmissionHooks } from '../admission-plugin.js';
import { isAbout } from '../matching.js';
import { find } from '../object-reader.js';
import type { PluginDependencies } from '../plugin-dependencies.js';
import type { PodView, Violation } from '../pod-security/check.js';
import { warningsOf } from '../pod-security/existing-pods.js';
import { formatPolicy, isStricter, samePolicy, type LevelVersion } from '../pod-security/level.js';
import { modes, readPolicy, type NamespacePolicy } from '../pod-security/namespace-policy.js';
import {
  hasTemplate,
  isSignificantUpdate,
  resourcesWithTemplates,
  templateOf,
  viewOf,
} from '../pod-security/pod-templates.js';
import { formatViolations, PodSecurityStandards } from '../pod-security/standards.js';
import { forbid } from '../refusal.js';

const namespaces = { group: '', resource: 'namespaces' };
const pods = { group: '', resource: 'pods' };

/**
 * Enforces the Pod Security Standards that the labels of a namespace choose. Workloads with a violating Pod template are
 * not refused; the user gets a warning, since their Pods will be refused.
 */
export const podSecurity = defineAdmissionPlugin({
  name: 'PodSecurity',
  runs: 'by default',
  make: makePodSecurity,
});

function makePodSecurity({ objects, naming, clock, configuration }: PluginDependencies): AdmissionHooks {
  const { defaults, exemptions } = configuration.podSecurity;
  const standards = new PodSecurityStandards(naming);
  const annotate = ({ request }: AdmissionAttributes, name: string, text: string) =>
    void request.auditAnnotations.set(naming.label(name, 'pod-security'), text);

  return {
    resources: [pods, namespaces, ...resourcesWithTemplates],
    actsOnUnchanged({ resource, subresource, namespace, request }) {
      // Only templates are checked at each update.
      if (subresource !== '' || !hasTemplate(resource)) return false;
      if (exemptions.namespaces.has(namespace) || exemptions.usernames.has(request.user.name)) return true;
      const found = objects.cached(namespaces, '', namespace);
      return !found || !isPrivileged(readPolicy(found.metadata.labels, defaults, naming).policy);
    },
    async validate(attributes) {
      if (isAbout(attributes, '', 'namespaces', ['CREATE', 'UPDATE'])) return validateNamespace(attributes);
      const pod = securedPod(attributes, naming);
      const view = pod ?? securedTemplate(attributes);
      if (!view) return;
      if (exemptions.namespaces.has(attributes.namespace)) return annotate(attributes, 'exempt', 'namespace');
      if (exemptions.usernames.has(attributes.request.user.name)) return annotate(attributes, 'exempt', 'user');
      const { policy, errors } = await policyOf(attributes);
      if (isPrivileged(policy)) {
        // Nearly all Pods of most clusters: without an audit log the annotation is not computed.
        if (pod && attributes.request.record) annotate(attributes, 'enforce-policy', formatPolicy(policy.enforce));
        return;
      }
      if (exemptions.runtimeClasses.has(view.spec.runtimeClassName ?? '')) {
        return annotate(attributes, 'exempt', 'runtimeClass');
      }
      if (errors.length > 0) {
        annotate(attributes, 'error', errors.map(({ field, detail }) => `${field}: ${detail}`).join(', '));
      }
      evaluate(attributes, view, policy, pod !== undefined);
    },
  };

  async function policyOf({ namespace, request }: AdmissionAttributes) {
    const found = await find(objects, namespaces, '', namespace, request.signal);
    return readPolicy(found?.metadata.labels, defaults, naming);
  }

  function evaluate(attributes: AdmissionAttributes, view: PodView, policy: NamespacePolicy, enforces: boolean): void {
    const violationsOf = violationsByLevel(standards, view);
    const audited = violationsOf(policy.audit);
    if (audited.length > 0) annotate(attributes, 'audit-violations', `would violate ${summary(policy.audit, audited)}`);
    if (enforces) {
      annotate(attributes, 'enforce-policy', formatPolicy(policy.enforce));
      const violations = violationsOf(policy.enforce);
      if (violations.length > 0) throw forbid(attributes, `violates ${summary(policy.enforce, violations)}`);
    }
    const warned = violationsOf(policy.warn);
    if (warned.length > 0) attributes.request.warnings.push(`would violate ${summary(policy.warn, warned)}`);
  }

  async function validateNamespace(attributes: AdmissionAttributes): Promise<void> {
    const { object, old, name, request } = attributes;
    const next = readPolicy(object?.metadata.labels, defaults, naming);
    const before = old && readPolicy(old.metadata.labels, defaults, naming);
    // Invalid labels that do not change are accepted, so that other fields of the namespace can be updated.
    if (next.errors.length > 0 && !(before && deepEqual(before.errors, next.errors))) {
      throw ApiError.invalid({ group: '', kind: 'Namespace' }, name, next.errors);
    }
    if (!before || exemptions.namespaces.has(name)) return;
    const { enforce } = next.policy;
    const was = before.policy.enforce;
    if (enforce.level === 'privileged' || samePolicy(enforce, was)) return;
    if (enforce.version === was.version && !isStricter(enforce.level, was.level)) return;
    const timer = new YieldTimer(clock);
    request.warnings.push(...(await timer.run(warningsOf(objects.scan(pods, name), name, enforce, standards))));
  }
}

const isPrivileged = (policy: NamespacePolicy): boolean => modes.every((mode) => policy[mode].level === 'privileged');

/** Returns the Pod if it is new, or if the update changes what the rules check. */
function securedPod(attributes: AdmissionAttributes, naming: NamingProfile): PodView | undefined {
  const { resource, subresource, operation } = attributes;
  if (resource.group !== '' || resource.resource !== 'pods' || !attributes.object) return undefined;
  const pod: Pod = attributes.object;
  const old: Pod | undefined = attributes.old;
  const view = viewOf(pod);
  if (operation === 'CREATE') return subresource === '' ? view : undefined;
  if (operation !== 'UPDATE' || !old) return undefined;
  // Bindings, evictions and status updates do not change the spec, and a resize changes only amounts.
  if (subresource !== '' && subresource !== 'ephemeralcontainers') return undefined;
  return isSignificantUpdate(view, viewOf(old), naming) ? view : undefined;
}

function securedTemplate({ resource, subresource, operation, object }: AdmissionAttributes): PodView | undefined {
  if (subresource !== '' || !object || !['CREATE', 'UPDATE'].includes(operation)) return undefined;
  return templateOf(resource, object);
}

/** Computes the violations of a level when they are needed first: modes often have the same level. */
function violationsByLevel(standards: PodSecurityStandards, view: PodView) {
  const known = new Map<string, readonly Violation[]>();
  return (level: LevelVersion): readonly Violation[] => {
    const key = formatPolicy(level);
    let violations = known.get(key);
    if (!violations) known.set(key, (violations = standards.violations(view, level)));
    return violations;
  };
}

function summary(policy: LevelVersion, violations: readonly Violation[]): string {
  return `PodSecurity "${formatPolicy(policy)}": ${formatViolations(violations)}`;
}

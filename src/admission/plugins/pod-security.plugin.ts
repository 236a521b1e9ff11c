import type { NamingProfile } from '../../config/naming-profile.js';
import { ApiError } from '../../machinery/api-error.js';
import { deepEqual } from '../../machinery/deep-equal.js';
import { asText } from '../../machinery/fields.js';
import type { AdmissionAttributes, AdmissionPlugin } from '../admission-plugin.js';
import type { PodSecurityConfiguration } from '../configuration/pod-security.configuration.js';
import { isAbout } from '../matching.js';
import { find, type ObjectReader } from '../object-reader.js';
import type { PodView, Violation } from '../pod-security/check.js';
import { warningsOf } from '../pod-security/existing-pods.js';
import { isStricter, samePolicy, shownPolicy, type LevelVersion } from '../pod-security/level.js';
import { modes, readPolicy, type NamespacePolicy } from '../pod-security/namespace-policy.js';
import { isSignificantUpdate, templateOf, viewOf } from '../pod-security/pod-templates.js';
import { PodSecurityStandards, shownViolations } from '../pod-security/standards.js';
import { forbid } from '../refusal.js';

const namespaces = { group: '', resource: 'namespaces' };
const pods = { group: '', resource: 'pods' };

interface Parts {
  readonly objects: ObjectReader;
  readonly naming: NamingProfile;
  readonly configuration: { readonly podSecurity: PodSecurityConfiguration };
}

/**
 * Holds Pods to the level that their namespace's labels ask for. What makes Pods is never refused: whoever writes it is
 * warned, since it is the Pod that will be.
 */
export function podSecurity({ objects, naming, configuration }: Parts): AdmissionPlugin {
  const { defaults, exemptions } = configuration.podSecurity;
  const standards = new PodSecurityStandards(naming);
  const note = ({ request }: AdmissionAttributes, name: string, text: string): void => {
    request.auditAnnotations.set(naming.label(name, 'pod-security'), text);
  };

  return {
    name: 'PodSecurity',
    async validate(attributes) {
      if (isAbout(attributes, '', 'namespaces', ['CREATE', 'UPDATE'])) return validateNamespace(attributes);
      const pod = securedPod(attributes);
      const view = pod ?? securedTemplate(attributes);
      if (!view) return;
      if (exemptions.namespaces.has(attributes.namespace)) return note(attributes, 'exempt', 'namespace');
      if (exemptions.usernames.has(attributes.request.user.name)) return note(attributes, 'exempt', 'user');
      const { policy, errors } = await policyOf(attributes);
      if (modes.every((mode) => policy[mode].level === 'privileged')) return;
      if (exemptions.runtimeClasses.has(asText(view.spec['runtimeClassName']))) {
        return note(attributes, 'exempt', 'runtimeClass');
      }
      if (errors.length > 0) {
        note(attributes, 'error', errors.map(({ field, detail }) => `${field}: ${detail}`).join(', '));
      }
      evaluate(attributes, view, policy, pod !== undefined);
    },
  };

  async function policyOf(attributes: AdmissionAttributes) {
    const { namespace, request } = attributes;
    const found = await find(objects, namespaces, '', namespace, request.signal);
    return readPolicy(found?.metadata.labels, defaults, naming);
  }

  function evaluate(attributes: AdmissionAttributes, view: PodView, policy: NamespacePolicy, enforces: boolean): void {
    const known = new Map<string, readonly Violation[]>();
    const violationsOf = (level: LevelVersion) => {
      const key = shownPolicy(level);
      let violations = known.get(key);
      if (!violations) known.set(key, (violations = standards.violations(view, level)));
      return violations;
    };
    const audited = violationsOf(policy.audit);
    if (audited.length > 0) note(attributes, 'audit-violations', `would violate ${told(policy.audit, audited)}`);
    if (enforces) {
      note(attributes, 'enforce-policy', shownPolicy(policy.enforce));
      const violations = violationsOf(policy.enforce);
      if (violations.length > 0) throw forbid(attributes, `violates ${told(policy.enforce, violations)}`);
    }
    const warned = violationsOf(policy.warn);
    if (warned.length > 0) attributes.request.warnings.push(`would violate ${told(policy.warn, warned)}`);
  }

  function validateNamespace(attributes: AdmissionAttributes): void {
    const { object, old, name, request } = attributes;
    const next = readPolicy(object?.metadata.labels, defaults, naming);
    const before = old && readPolicy(old.metadata.labels, defaults, naming);
    // Labels that were wrong before may stay wrong: something else is being changed.
    if (next.errors.length > 0 && !(before && deepEqual(before.errors, next.errors))) {
      throw ApiError.invalid({ group: '', kind: 'Namespace' }, name, next.errors);
    }
    if (!before || exemptions.namespaces.has(name)) return;
    const { enforce } = next.policy;
    const was = before.policy.enforce;
    if (enforce.level === 'privileged' || samePolicy(enforce, was)) return;
    if (enforce.version === was.version && !isStricter(enforce.level, was.level)) return;
    request.warnings.push(...warningsOf(objects.list(pods, name), name, enforce, standards));
  }

  /** A Pod that is made, or changed in what these rules look at. */
  function securedPod({ resource, subresource, operation, object, old }: AdmissionAttributes): PodView | undefined {
    if (resource.group !== '' || resource.resource !== 'pods' || !object) return undefined;
    const view = viewOf(object);
    if (operation === 'CREATE') return subresource === '' ? view : undefined;
    if (operation !== 'UPDATE' || !old) return undefined;
    // Neither bindings nor evictions nor statuses change the spec, and a resize changes only amounts.
    if (subresource !== '' && subresource !== 'ephemeralcontainers') return undefined;
    return isSignificantUpdate(view, viewOf(old), naming) ? view : undefined;
  }

  function securedTemplate({ resource, subresource, operation, object }: AdmissionAttributes): PodView | undefined {
    if (subresource !== '' || !object || !['CREATE', 'UPDATE'].includes(operation)) return undefined;
    return templateOf(resource, object);
  }
}

function told(policy: LevelVersion, violations: readonly Violation[]): string {
  return `PodSecurity "${shownPolicy(policy)}": ${shownViolations(violations)}`;
}

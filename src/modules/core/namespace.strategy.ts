import type { Namespace } from '../../catalog/types/core.v1.js';
import type { NamingProfile } from '../../config/naming-profile.js';
import { namespaceFinalizer } from '../../machinery/finalizers.js';
import { fieldError, path, type FieldError } from '../../machinery/field-error.js';
import { checked } from '../../machinery/field-rules.js';
import { nameIsDnsLabel, validateQualifiedName } from '../../machinery/names.js';
import { validateFinalizerDomain } from '../../machinery/object-meta-validation.js';
import type { ViewSubresource } from '../../registry/definition/resource-definition.js';
import { statusSubresource } from '../../registry/definition/status-subresource.js';
import type { Strategy } from '../../registry/definition/strategy.js';

/**
 * A Namespace is removed when metadata.finalizers and spec.finalizers are empty. Every Namespace gets the server's own
 * entry in spec.finalizers; the namespace reconciler deletes the contents, then removes the entry through `finalize`.
 */
export function namespaceStrategy(naming: NamingProfile): Strategy<Namespace> {
  const nameLabel = naming.label('metadata.name');
  const ownFinalizer = namespaceFinalizer(naming);
  return {
    validateName: nameIsDnsLabel,
    default(namespace) {
      const { name } = namespace.metadata;
      if (name) namespace.metadata.labels = { ...namespace.metadata.labels, [nameLabel]: name };
      if (!namespace.status?.phase) namespace.status = { ...namespace.status, phase: 'Active' };
    },
    initialStatus: () => ({ phase: 'Active' }),
    prepareForCreate(namespace) {
      const spec = (namespace.spec ??= {});
      const finalizers = [...(spec.finalizers ?? [])];
      if (!finalizers.includes(ownFinalizer)) finalizers.push(ownFinalizer);
      spec.finalizers = finalizers;
    },
    prepareForUpdate(namespace, old) {
      namespace.spec = { ...namespace.spec, finalizers: old.spec?.finalizers };
    },
    validateCreate: validateFinalizers(naming),
    deletion: {
      holds: ({ spec }) => (spec?.finalizers ?? []).length > 0,
      prepareForDelete(namespace) {
        namespace.status = { ...namespace.status, phase: 'Terminating' };
        // The deletion ends when the contents are gone, not after a grace period.
        delete namespace.metadata.deletionGracePeriodSeconds;
      },
    },
  };
}

function validateFinalizers(naming: NamingProfile) {
  const at = path('spec').child('finalizers');
  const own = namespaceFinalizer(naming);
  return ({ spec }: Namespace): FieldError[] =>
    (spec?.finalizers ?? []).flatMap((finalizer) => [
      ...checked(finalizer, at, validateQualifiedName),
      ...(finalizer === own ? [] : validateFinalizerDomain(finalizer, at)),
    ]);
}

export const namespaceStatusSubresource = statusSubresource<Namespace>({
  validate({ metadata, status }) {
    const phase = status?.phase;
    const isDeleted = metadata.deletionTimestamp !== undefined;
    const expected = isDeleted ? 'Terminating' : 'Active';
    if (phase === expected) return [];
    const message = `may only be '${expected}' if \`deletionTimestamp\` is ${isDeleted ? 'not ' : ''}empty`;
    return [fieldError.invalid('status.Phase', phase ?? '', message)];
  },
});

/** The only subresource that can change spec.finalizers. */
export function finalizeSubresource(naming: NamingProfile): ViewSubresource {
  return {
    type: 'view',
    verbs: ['update'],
    view: (namespace) => namespace,
    put(namespace, view: Namespace) {
      const { finalizers = [] } = view.spec ?? {};
      return {
        ...namespace,
        metadata: { ...view.metadata },
        spec: finalizers.length > 0 ? { finalizers } : {},
      };
    },
    validate: validateFinalizers(naming),
  };
}

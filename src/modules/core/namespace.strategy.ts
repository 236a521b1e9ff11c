import type { NamingProfile } from '../../config/naming-profile.js';
import { fieldError, path, type FieldError } from '../../machinery/field-error.js';
import { checked } from '../../machinery/field-rules.js';
import { asFields, asTexts, makeFields } from '../../machinery/fields.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import { nameIsDnsLabel, validateQualifiedName } from '../../machinery/names.js';
import type { ViewSubresource } from '../../registry/definition/resource-definition.js';
import { statusSubresource } from '../../registry/definition/status-subresource.js';
import type { Strategy } from '../../registry/definition/strategy.js';

/**
 * A namespace stays while anything in it has to be cleaned up: spec.finalizers hold it, beside those of its metadata.
 * The server's own finalizer is on every namespace; whoever empties it takes it off through `finalize`.
 */
export function namespaceStrategy(naming: NamingProfile): Strategy {
  const nameLabel = naming.label('metadata.name');
  return {
    validateName: nameIsDnsLabel,
    default(namespace) {
      const { name } = namespace.metadata;
      if (name) namespace.metadata.labels = { ...namespace.metadata.labels, [nameLabel]: name };
    },
    prepareForCreate(namespace) {
      const spec = makeFields(namespace, 'spec');
      const finalizers = asTexts(spec['finalizers']);
      if (!finalizers.includes(naming.serviceName)) finalizers.push(naming.serviceName);
      spec['finalizers'] = finalizers;
      namespace['status'] = { phase: 'Active' };
    },
    prepareForUpdate(namespace, old) {
      namespace['spec'] = { ...asFields(namespace['spec']), finalizers: asFields(old['spec'])['finalizers'] };
      namespace['status'] = old['status'];
    },
    validateCreate: validateFinalizers(naming),
    deletion: {
      holds: (namespace) => asTexts(asFields(namespace['spec'])['finalizers']).length > 0,
      prepareForDelete(namespace) {
        namespace['status'] = { ...asFields(namespace['status']), phase: 'Terminating' };
        // It waits for its contents, not for a time.
        delete namespace.metadata.deletionGracePeriodSeconds;
      },
    },
  };
}

/** Either a plain word that the server itself uses, or a name with a domain of its own. */
function validateFinalizers(naming: NamingProfile) {
  const plain = [naming.serviceName, 'orphan', 'foregroundDeletion'];
  const at = path('spec').child('finalizers');
  return (namespace: KubeObject): FieldError[] =>
    asTexts(asFields(namespace['spec'])['finalizers']).flatMap((finalizer) => {
      const errors = checked(finalizer, at, validateQualifiedName);
      if (!finalizer.includes('/') && !plain.includes(finalizer)) {
        const message = 'name is neither a standard finalizer name nor is it fully qualified';
        errors.push(fieldError.invalid(String(at), finalizer, message));
      }
      return errors;
    });
}

export const namespaceStatusSubresource = statusSubresource({
  validate(namespace) {
    const phase = asFields(namespace['status'])['phase'];
    const isDeleted = namespace.metadata.deletionTimestamp !== undefined;
    const only = isDeleted ? 'Terminating' : 'Active';
    if (phase === only) return [];
    const message = `may only be '${only}' if \`deletionTimestamp\` is ${isDeleted ? 'not ' : ''}empty`;
    return [fieldError.invalid('status.Phase', phase ?? '', message)];
  },
});

/** The one way to change spec.finalizers. */
export function finalizeSubresource(naming: NamingProfile): ViewSubresource {
  return {
    type: 'view',
    verbs: ['update'],
    view: (namespace) => namespace,
    put(namespace, view) {
      const finalizers = asTexts(asFields(view['spec'])['finalizers']);
      return {
        ...namespace,
        metadata: { ...view.metadata },
        spec: finalizers.length > 0 ? { finalizers } : {},
      };
    },
    validate: validateFinalizers(naming),
  };
}

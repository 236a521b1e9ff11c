import type { CustomResourceDefinition, JSONSchemaProps } from '../../catalog/types/apiextensions.v1.js';
import type { NamingProfile } from '../../config/naming-profile.js';
import { goQuote } from '../../machinery/field-error.js';
import type { Mutable } from '../../machinery/mutable.js';
import { nameIsDnsSubdomain } from '../../machinery/names.js';
import { statusSubresource } from '../../registry/definition/status-subresource.js';
import type { Strategy } from '../../registry/definition/strategy.js';
import { definitionDeletion } from '../../custom-kinds/definition-deletion.js';
import { schemaOf } from '../../custom-kinds/definition-view.js';
import { validateDefinition, validateDefinitionUpdate, validateStatusNames } from './definition.validation.js';
import { isKnownFormat } from '../../structural-schema/formats.js';
import { everySchema } from '../../structural-schema/walk.js';

const portDefault = 443;

/** The strategy of CustomResourceDefinitions. */
export function definitionStrategy(naming: NamingProfile): Strategy<CustomResourceDefinition> {
  return {
    validateName: nameIsDnsSubdomain,
    finalizersNeedDomain: false,
    countsGenerations: true,
    default: defaultDefinition,
    initialStatus: emptyStatus,
    prepareForCreate: recordStorageVersions,
    prepareForUpdate: recordStorageVersions,
    validateInSteps: (definition, old) =>
      old ? validateDefinitionUpdate(definition, old, naming) : validateDefinition(definition, naming),
    warnings(definition, old) {
      // Schemas may be large, and most writes change the status only.
      if (old && definition.metadata.generation === old.metadata.generation) return [];
      const before = new Set(old ? unknownFormats(old) : []);
      const formats = unknownFormats(definition).filter((format) => !before.has(format));
      return formats.map((format) => `unrecognized format ${goQuote(format)}`);
    },
    deletion: definitionDeletion(naming),
  };
}

export const definitionStatusSubresource = statusSubresource<CustomResourceDefinition>({
  validate: validateStatusNames,
});

function unknownFormats({ spec }: CustomResourceDefinition): string[] {
  const schemas = (spec?.versions ?? []).map(({ schema }) => schemaOf(schema) ?? {});
  return schemas
    .flatMap(everySchema)
    .filter(({ type = '', format = '' }: JSONSchemaProps) => format !== '' && !isKnownFormat(type, format))
    .map(({ format = '' }: JSONSchemaProps) => format);
}

const emptyStatus = () => ({ conditions: null, acceptedNames: { plural: '', kind: '' }, storedVersions: null });

function defaultDefinition(definition: Mutable<CustomResourceDefinition>): void {
  const spec = (definition.spec ??= {});
  const names = (spec.names ??= {});
  const { kind = '' } = names;
  if (kind !== '') {
    names.singular ||= kind.toLowerCase();
    names.listKind ||= `${kind}List`;
  }
  // preserveUnknownFields: false is the default of v1 and is not stored.
  if (spec.preserveUnknownFields === false) delete spec.preserveUnknownFields;
  spec.conversion ??= { strategy: 'None' };
  const service = spec.conversion.webhook?.clientConfig?.service;
  if (service) service.port ??= portDefault;
  const status = (definition.status ??= {});
  const empty = emptyStatus();
  status.conditions ??= empty.conditions;
  status.acceptedNames ??= empty.acceptedNames;
  status.storedVersions ??= empty.storedVersions;
  if ((status.storedVersions ?? []).length === 0) recordStorageVersions(definition);
}

/**
 * Adds the storage version to status.storedVersions. Only a client that has migrated the stored objects removes
 * versions from it.
 */
function recordStorageVersions(definition: Mutable<CustomResourceDefinition>): void {
  const { spec, status } = definition;
  const stored = status?.storedVersions ?? [];
  const storage = spec?.versions?.find((version) => version.storage);
  const name = storage?.name ?? '';
  if (name !== '' && !stored.includes(name)) definition.status = { ...status, storedVersions: [...stored, name] };
}

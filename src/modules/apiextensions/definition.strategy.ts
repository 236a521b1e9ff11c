import type { NamingProfile } from '../../config/naming-profile.js';
import { goQuote } from '../../machinery/field-error.js';
import { asFields, asItems, asText, asTexts, fillIn, fillInZero, isSet, makeFields } from '../../machinery/fields.js';
import type { JsonValue, KubeObject } from '../../machinery/kube-object.js';
import { nameIsDnsSubdomain } from '../../machinery/names.js';
import { copyJson } from '../../patch/copy-json.js';
import { statusSubresource } from '../../registry/definition/status-subresource.js';
import type { Strategy } from '../../registry/definition/strategy.js';
import { definitionDeletion } from '../../custom-kinds/definition-deletion.js';
import { schemaOf } from '../../custom-kinds/definition-view.js';
import { validateDefinition, validateDefinitionUpdate, validateStatusNames } from './definition.validation.js';
import { isKnownFormat } from '../../structural-schema/formats.js';
import { everySchema } from '../../structural-schema/walk.js';

const portDefault = 443;

/** The strategy of CustomResourceDefinitions. */
export function definitionStrategy(naming: NamingProfile): Strategy {
  return {
    validateName: nameIsDnsSubdomain,
    finalizersNeedDomain: false,
    countsGenerations: true,
    default: fillDefinition,
    prepareForCreate(definition) {
      definition['status'] = emptyStatus();
      recordStorageVersions(definition);
    },
    prepareForUpdate(definition, old) {
      definition['status'] = copyJson(old['status'] as JsonValue);
      recordStorageVersions(definition);
    },
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

export const definitionStatusSubresource = statusSubresource({ validate: validateStatusNames });

function unknownFormats(definition: KubeObject): string[] {
  const schemas = asItems(asFields(definition['spec'])['versions']).map(({ schema }) => schemaOf(schema) ?? {});
  return schemas
    .flatMap(everySchema)
    .filter(({ type, format }) => asText(format) !== '' && !isKnownFormat(asText(type), asText(format)))
    .map(({ format }) => asText(format));
}

const emptyStatus = () => ({ conditions: null, acceptedNames: { plural: '', kind: '' }, storedVersions: null });

function fillDefinition(definition: KubeObject): void {
  const spec = makeFields(definition, 'spec');
  const names = makeFields(spec, 'names');
  const kind = asText(names['kind']);
  if (kind !== '') {
    fillInZero(names, 'singular', kind.toLowerCase());
    fillInZero(names, 'listKind', `${kind}List`);
  }
  // preserveUnknownFields: false is the default of v1 and is not stored.
  if (spec['preserveUnknownFields'] === false) delete spec['preserveUnknownFields'];
  fillIn(spec, 'conversion', { strategy: 'None' });
  const client = asFields(asFields(asFields(spec['conversion'])['webhook'])['clientConfig']);
  if (isSet(client['service'])) fillIn(asFields(client['service']), 'port', portDefault);
  const status = makeFields(definition, 'status');
  for (const [field, value] of Object.entries(emptyStatus())) if (!isSet(status[field])) status[field] = value;
  if (asTexts(status['storedVersions']).length === 0) recordStorageVersions(definition);
}

/**
 * Adds the storage version to status.storedVersions. Only a client that has migrated the stored objects removes
 * versions from it.
 */
function recordStorageVersions(definition: KubeObject): void {
  const status = asFields(definition['status']);
  const stored = asTexts(status['storedVersions']);
  const storage = asItems(asFields(definition['spec'])['versions']).find((version) => version['storage'] === true);
  const name = asText(storage?.['name']);
  if (name !== '' && !stored.includes(name)) status['storedVersions'] = [...stored, name];
}

import { asFields, asText, isSet, valueAt, type Fields } from '../machinery/fields.js';
import { hasCostlyPatterns } from './costly-patterns.js';
import { hasUnprunedDefault } from './default.validation.js';
import { expressionsOf, type StoredExpressions } from './rules/compiled-rule.js';
import { everySchema } from './walk.js';

/**
 * Rules that were added after definitions existed. An update may break the rules that the stored definition already
 * breaks, so that it can still be updated (ratcheting).
 */
export interface SchemaLeniency {
  readonly mayLackSchema: boolean;
  readonly unknownTypes: boolean;
  readonly unprunedDefaults: boolean;
  readonly granularSets: boolean;
  readonly optionalKeys: boolean;
  readonly costlyPatterns: boolean;
  /** Stored schemas, which may have rules that cost too much. */
  readonly schemas: readonly Fields[];
  /** Expressions of stored rules, which may use what a later release introduced. */
  readonly expressions: StoredExpressions;
}

export const strict: SchemaLeniency = {
  mayLackSchema: false,
  unknownTypes: false,
  unprunedDefaults: false,
  granularSets: false,
  optionalKeys: false,
  costlyPatterns: false,
  schemas: [],
  expressions: { rules: new Set(), messages: new Set() },
};

export const schemaTypes = ['array', 'boolean', 'integer', 'number', 'object', 'string'];

/** The leniency that stored schemas need: one for all versions (`shared`), or one a version. */
export function leniencyOf(shared: Fields | undefined, ofVersions: readonly (Fields | undefined)[]): SchemaLeniency {
  const schemas = [shared, ...ofVersions].filter((schema) => schema !== undefined);
  const every = schemas.flatMap(everySchema);
  return {
    mayLackSchema: !shared && ofVersions.some((schema) => !schema),
    unknownTypes: every.some(({ type }) => asText(type) !== '' && !schemaTypes.includes(asText(type))),
    schemas,
    expressions: expressionsOf(every),
    unprunedDefaults: every.some((schema) => isSet(schema['default'])) && schemas.some(hasUnprunedDefault),
    granularSets: every.some(hasGranularSet),
    optionalKeys: every.some(hasOptionalKeys),
    costlyPatterns: hasCostlyPatterns(schemas),
  };
}

/** Items of a set must be atomic. */
export function hasGranularSet(schema: Fields): boolean {
  if (schema['x-kubernetes-list-type'] !== 'set') return false;
  const items = asFields(schema['items']);
  if (items['type'] === 'array') return !['atomic', undefined].includes(items['x-kubernetes-list-type'] as string);
  return items['type'] === 'object' && items['x-kubernetes-map-type'] !== 'atomic';
}

function hasOptionalKeys(schema: Fields): boolean {
  const type = schema['x-kubernetes-list-type'];
  const items = asFields(schema['items']);
  if (type !== 'set' && type !== 'map') return false;
  if (items['nullable'] === true) return true;
  const required = Array.isArray(items['required']) ? (items['required'] as unknown[]) : [];
  const keys = Array.isArray(schema['x-kubernetes-list-map-keys']) ? schema['x-kubernetes-list-map-keys'] : [];
  return (
    type === 'map' &&
    keys.some((key: unknown) => {
      const property = valueAt(items, ['properties', asText(key)]);
      if (!isSet(property)) return false;
      const { default: byDefault, nullable } = asFields(property);
      return nullable === true || (!required.includes(key) && !isSet(byDefault));
    })
  );
}

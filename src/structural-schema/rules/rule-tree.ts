import { escapeName } from '../../cel/declared/escaping.js';
import { asFields, asText, asTexts, type Fields } from '../../machinery/fields.js';
import { isJsonObject } from '../../machinery/kube-object.js';
import type { Steps } from '../../std/steps.js';
import { findField } from '../field-path.js';
import { RuleCompiler, rulesOf, typeOfSchema, type CompiledRule, type DeclaredType } from './compiled-rule.js';

export interface TreeRule extends CompiledRule {
  /** The path of the field in errors: `spec.labels[app]`; empty if errors name the value of the rule. */
  readonly fieldPath: string;
}

/** The compiled rules of a schema and of those inside it. Schemas without rules are left out. */
export interface RuleTree {
  /** The type in error messages: `object`; empty for int-or-string. */
  readonly typeName: string;
  readonly type: DeclaredType;
  readonly rules: readonly TreeRule[];
  readonly properties: ReadonlyMap<string, RuleTree>;
  readonly additional: RuleTree | undefined;
  readonly items: RuleTree | undefined;
  /** False for atomic maps, whose fields are not compared with old values. */
  readonly isGranular: boolean;
  /** Keys of a list map, whose items are compared with the old item of the same keys; undefined for other lists. */
  readonly listKeys: readonly string[] | undefined;
}

/** Compiles the rules of a schema, one per step; returns undefined if it has none. */
export function compileRuleTree(schema: Fields, isResource: boolean): Steps<RuleTree | undefined> {
  return treeOf(schema, typeOfSchema(schema, isResource), isResource);
}

function* treeOf(schema: Fields, outer: DeclaredType | undefined, isResource: boolean): Steps<RuleTree | undefined> {
  if (!outer) return undefined;
  const additional = yield* treeOfInner(schema['additionalProperties'], outer);
  const items = yield* treeOfInner(schema['items'], outer);
  const properties = new Map<string, RuleTree>();
  for (const [name, property] of Object.entries(asFields(schema['properties']))) {
    const inner = asFields(property);
    const tree = yield* treeOf(inner, typeOfProperty(outer, name, inner), isEmbedded(inner));
    if (tree) properties.set(name, tree);
  }
  const all = rulesOf(schema);
  if (all.length === 0 && properties.size === 0 && !additional && !items) return undefined;
  const rules: TreeRule[] = [];
  // Structs have names relative to the schema of their rules.
  const type = all.length > 0 ? typeOfSchema(schema, isResource)! : outer;
  const compiler = new RuleCompiler(type);
  for (const rule of all) {
    yield;
    const found = rule.fieldPath ? findField(rule.fieldPath, schema) : undefined;
    rules.push({ ...(yield* compiler.compile(rule)), fieldPath: found && 'text' in found ? found.text : '' });
  }
  return {
    typeName: asText(schema['type']),
    type,
    rules,
    properties,
    additional,
    items,
    isGranular: schema['x-kubernetes-map-type'] !== 'atomic',
    listKeys: schema['x-kubernetes-list-type'] === 'map' ? asTexts(schema['x-kubernetes-list-map-keys']) : undefined,
  };
}

function treeOfInner(schema: unknown, outer: DeclaredType): Steps<RuleTree | undefined> {
  return isJsonObject(schema) ? treeOf(schema, outer.elements, isEmbedded(schema)) : none();
}

function* none(): Steps<undefined> {
  return undefined;
}

/** Returns the type of a field; undefined if expressions cannot see its values. */
export function typeOfProperty(type: DeclaredType, name: string, property: Fields): DeclaredType | undefined {
  const escaped = escapeName(name);
  if (escaped !== undefined) return type.fields?.get(escaped);
  // Expressions around the field cannot name it; its own rules see its value as self.
  return typeOfSchema(property, isEmbedded(property));
}

export const isEmbedded = (schema: Fields): boolean => schema['x-kubernetes-embedded-resource'] === true;

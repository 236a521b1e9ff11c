import { assert } from '../std/assert.js';
import { deepEqual } from '../machinery/deep-equal.js';
import { fieldError, type FieldError } from '../machinery/field-error.js';
import { asFields } from '../machinery/fields.js';
import { immutableDetail } from '../machinery/immutable.js';
import type { JsonValue } from '../machinery/kube-object.js';
import type { Field, FieldType } from '../machinery/type-model.js';
import { formats, type FormatNames } from './declared-formats.js';
import type { DeclaredRule } from './declared-rule.js';
import { isUnset, zeroOf } from './unset.js';
import { correlated, uniquenessErrors, type ListIdentity } from './uniqueness.js';

/** The value under a rule, its old value, and its path. */
export interface Subject {
  readonly value: JsonValue | undefined;
  readonly old: JsonValue | undefined;
  /** True if there is an old value to compare with. */
  readonly hasOld: boolean;
  readonly at: string;
}

export interface Surroundings extends FormatNames {
  readonly isUpdate: boolean;
  readonly isEnabled: (gate: string) => boolean;
}

/** A compiled rule. */
export interface Check {
  readonly origin: string;
  /** Runs before the others; if it finds errors, they do not run. */
  readonly isFirst: boolean;
  /** An unset value is valid, and skips the other checks. */
  readonly endsWhenUnset: boolean;
  readonly find: (subject: Subject, around: Surroundings) => FieldError[];
}

/** The declaration that a check is for: a field, an item, a map value. */
export interface Checked {
  readonly type: FieldType;
  readonly isPointer: boolean;
  readonly identity: ListIdentity | undefined;
}

type Find = Check['find'];
type Factory = (rule: DeclaredRule, of: Checked) => Check | undefined;

const first = (origin: string, find: Find): Check => ({ origin, isFirst: true, endsWhenUnset: false, find });
const rest = (origin: string, find: Find): Check => ({ origin, isFirst: false, endsWhenUnset: false, find });

/** Returns undefined for rules that only configure others: union members, keys of items. */
export function checkOf(rule: DeclaredRule, of: Checked): Check | undefined {
  assert(Object.hasOwn(factories, rule.tag), `no check is known for ${rule.tag}`);
  return factories[rule.tag]!(rule, of);
}

const nothing: Factory = () => undefined;

const factories: Readonly<Record<string, Factory>> = {
  optional: () => ({ origin: '', isFirst: true, endsWhenUnset: true, find: () => [] }),
  required: (_rule, of) => first('', ({ value, at }) => (isUnset(value, of) ? [fieldError.required(at)] : [])),
  forbidden: (_rule, of) => first('', ({ value, at }) => (isUnset(value, of) ? [] : [fieldError.forbidden(at, '')])),
  // Unchanged values are not checked at all.
  immutable: () =>
    first('immutable', ({ at }, { isUpdate }) => (isUpdate ? [fieldError.invalid(at, null, immutableDetail)] : [])),
  update: ({ value = '' }, of) => first('update', updateRule(value, of)),
  maxItems: (rule) =>
    first('maxItems', ({ value, at }) => {
      const max = numberOf(rule);
      return Array.isArray(value) && value.length > max ? [fieldError.tooMany(at, value.length, max)] : [];
    }),
  maxLength: (rule, of) =>
    ofText('maxLength', of, (text, at) => {
      const max = numberOf(rule);
      return text.length > max && [...text].length > max ? [fieldError.tooLongInCharacters(at, max)] : [];
    }),
  maxBytes: (rule, of) =>
    ofText('maxBytes', of, (text, at) => {
      const max = numberOf(rule);
      return Buffer.byteLength(text) > max ? [fieldError.tooLong(at, max)] : [];
    }),
  minimum: (rule, of) => ofNumber('minimum', of, numberOf(rule), (value, min) => value < min, 'greater'),
  maximum: (rule, of) => ofNumber('maximum', of, numberOf(rule), (value, max) => value > max, 'less'),
  format: ({ value = '' }, of) => {
    const format = formats[value];
    assert(format, `no format is called ${value}`);
    return ofText(`format=${value}`, of, format);
  },
  enum: (_rule, of) => {
    const supported = of.type.form === 'scalar' ? of.type.enumValues : undefined;
    assert(supported, `${of.type.goName} has no closed set of values`);
    return ofText('enum', of, (text, at) =>
      supported.includes(text) ? [] : [fieldError.notSupported(at, text, supported)],
    );
  },
  listType: ({ value }, of) => (value === 'set' || value === 'map' ? uniqueness(of) : undefined),
  unique: (_rule, of) => uniqueness(of),
  ifEnabled: (rule, of) => whenGate(rule, of, true),
  ifDisabled: (rule, of) => whenGate(rule, of, false),
  eachVal: (rule, of) => {
    const item = itemOf(of);
    const check = innerCheck(rule, item);
    return (
      check &&
      rest(check.origin, (subject, around) =>
        membersOf(subject, of).flatMap((member) =>
          around.isUpdate && isSame(member) ? [] : check.find(member, around),
        ),
      )
    );
  },
  eachKey: (rule) => {
    const key: Checked = { type: textType, isPointer: false, identity: undefined };
    const check = innerCheck(rule, key);
    return (
      check &&
      rest(check.origin, ({ value, old, at }, around) =>
        Object.keys(asFields(value))
          .filter((name) => !around.isUpdate || !Object.hasOwn(asFields(old), name))
          .flatMap((name) => check.find({ value: name, old: undefined, hasOld: false, at }, around)),
      )
    );
  },
  subfield: (rule, of) => {
    assert(of.type.form === 'struct', `${of.type.goName} has no fields`);
    const { argument = '' } = rule;
    const field = of.type.byName.get(argument);
    assert(field, `${of.type.goName} has no field ${argument}`);
    const check = innerCheck(rule, checkedField(field));
    if (!check) return undefined;
    const inner = (subject: Subject): Subject => ({
      value: asFields(subject.value)[argument] as JsonValue | undefined,
      old: asFields(subject.old)[argument] as JsonValue | undefined,
      hasOld: subject.hasOld,
      at: subject.at === '' ? argument : `${subject.at}.${argument}`,
    });
    return rest(check.origin, (subject, around) => {
      const part = inner(subject);
      if (around.isUpdate && isSame(part)) return [];
      // Optional fields have a rule that allows them to be unset.
      if (check.isFirst || !isUnset(part.value, checkedField(field))) return check.find(part, around);
      return [];
    });
  },
  item: (rule, of) => {
    if (isOfUnion(rule.inner)) return undefined;
    const check = innerCheck(rule, itemOf(of));
    return (
      check &&
      rest(check.origin, (subject, around) => {
        const member = membersOf(subject, of).find(({ value }) => matches(value, rule.named));
        return !member || (around.isUpdate && isSame(member)) ? [] : check.find(member, around);
      })
    );
  },
  listMapKey: nothing,
  customUnique: nothing,
  discriminator: nothing,
  unionDiscriminator: nothing,
  member: nothing,
  unionMember: nothing,
  zeroOrOneOfMember: nothing,
};

const textType: FieldType = { form: 'scalar', scalar: 'string', goName: 'string', enumValues: undefined };

export function checkedField(field: Field): Checked {
  const { list } = field;
  const identity = list === undefined || list.type === 'atomic' ? undefined : { type: list.type, keys: list.keys };
  return { type: field.type, isPointer: field.isPointer, identity };
}

export function isOfUnion(rule: DeclaredRule | undefined): boolean {
  return rule?.tag === 'unionMember' || rule?.tag === 'zeroOrOneOfMember';
}

export function matches(item: JsonValue | undefined, named: Readonly<Record<string, string>>): boolean {
  const fields = asFields(item);
  return Object.entries(named).every(([name, value]) => (fields[name] ?? '') === value);
}

/** True for an unchanged value: rules that were added later do not apply to it. */
export function isSame({ value, old, hasOld }: Subject): boolean {
  return hasOld && deepEqual(value ?? undefined, old ?? undefined);
}

/** The items of a list or values of a map, each with its old value. */
export function membersOf({ value, old, at }: Subject, { identity }: Checked): Subject[] {
  if (Array.isArray(value)) {
    const like = identity && Array.isArray(old) ? correlated(value, old, identity) : [];
    return value.map((item, index) => ({
      value: item,
      old: like[index],
      hasOld: like[index] !== undefined,
      at: `${at}[${index}]`,
    }));
  }
  const before = asFields(old);
  return Object.entries(asFields(value)).map(([key, item]) => {
    const hasOld = Object.hasOwn(before, key);
    const like = hasOld ? (before[key] as JsonValue) : undefined;
    return { value: item as JsonValue, old: like, hasOld, at: `${at}[${key}]` };
  });
}

function innerCheck({ tag, inner }: DeclaredRule, of: Checked): Check | undefined {
  assert(inner, `${tag} is about another rule`);
  return checkOf(inner, of);
}

function itemOf({ type }: Checked): Checked {
  assert(type.form === 'list' || type.form === 'map', `${type.goName} has no items`);
  return { type: type.of, isPointer: false, identity: undefined };
}

function uniqueness({ identity }: Checked): Check | undefined {
  return (
    identity && rest('unique', ({ value, at }) => (Array.isArray(value) ? uniquenessErrors(value, identity, at) : []))
  );
}

function whenGate(rule: DeclaredRule, of: Checked, isEnabled: boolean): Check | undefined {
  const check = innerCheck(rule, of);
  const { argument = '' } = rule;
  if (!check) return undefined;
  if (check.endsWhenUnset) return check;
  return {
    ...check,
    find: (subject, around) => (around.isEnabled(argument) === isEnabled ? check.find(subject, around) : []),
  };
}

function ofText(
  origin: string,
  of: Checked,
  find: (text: string, at: string, names: FormatNames) => FieldError[],
): Check {
  return rest(origin, ({ value, at }, around) => {
    const text = value ?? zeroOf(of);
    return typeof text === 'string' ? find(text, at, around) : [];
  });
}

function ofNumber(
  origin: string,
  of: Checked,
  bound: number,
  isBeyond: (value: number, bound: number) => boolean,
  than: string,
): Check {
  return rest(origin, ({ value, at }) => {
    const number: unknown = value ?? zeroOf(of);
    if ((typeof number !== 'number' && typeof number !== 'bigint') || !isBeyond(Number(number), bound)) return [];
    return [fieldError.invalid(at, number, `must be ${than} than or equal to ${bound}`)];
  });
}

function updateRule(constraint: string, of: Checked): Find {
  const rules: Readonly<Record<string, readonly [wasSet: boolean, isSet: boolean, text: string]>> = {
    NoSet: [false, true, 'field cannot be set once created'],
    NoUnset: [true, false, 'field cannot be cleared once set'],
    NoModify: [true, true, 'field cannot be modified once set'],
  };
  const rule = rules[constraint];
  assert(rule, `no update is called ${constraint}`);
  const [wasSet, isSet, text] = rule;
  return ({ value, old, at }, { isUpdate }) =>
    isUpdate && isUnset(old, of) === !wasSet && isUnset(value, of) === !isSet
      ? [fieldError.invalid(at, null, text)]
      : [];
}

function numberOf({ tag, value }: DeclaredRule): number {
  const number = Number(value);
  assert(value !== undefined && Number.isInteger(number), `${tag} needs a whole number`);
  return number;
}

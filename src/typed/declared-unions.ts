import { fieldError, goQuote, type FieldError } from '../machinery/field-error.js';
import { asFields } from '../machinery/fields.js';
import type { JsonValue } from '../machinery/kube-object.js';
import type { StructType } from '../machinery/type-model.js';
import { capitalized } from '../std/capitalized.js';
import {
  checkedField,
  checkOf,
  isOfUnion,
  isSame,
  matches,
  type Check,
  type Subject,
  type Surroundings,
} from './declared-checks.js';
import { parseRule, staged, type DeclaredRule, type Stability } from './declared-rule.js';
import { isUnset } from './unset.js';

/** Rules over several fields of a struct. */
export interface StructCheck {
  readonly stability: Stability;
  readonly origin: string;
  readonly find: (subject: Subject, around: Surroundings) => FieldError[];
}

interface Member {
  readonly name: string;
  /** The discriminator value of the member. */
  readonly goesWith: string;
  readonly isSet: (struct: JsonValue | undefined) => boolean;
}

interface Union {
  stability: Stability;
  isExact: boolean;
  discriminator: string | undefined;
  readonly members: Member[];
}

/** The unions of a struct, and the fields whose rules depend on a discriminator. */
export function structChecks(type: StructType): StructCheck[] {
  const unions = new Map<string, Union>();
  const unionCalled = (rule: DeclaredRule): Union => {
    const name = rule.named.union ?? '';
    let union = unions.get(name);
    if (!union)
      unions.set(name, (union = { stability: 'stable', isExact: true, discriminator: undefined, members: [] }));
    return union;
  };
  const modal: StructCheck[] = [];
  const discriminator = discriminatorOf(type);
  for (const field of type.byName.values()) {
    const of = checkedField(field);
    for (const text of field.rules) {
      const { stability, rule } = staged(parseRule(text));
      const isItem = rule.tag === 'item' && isOfUnion(rule.inner);
      const member = isItem ? rule.inner! : rule;
      if (isOfUnion(member)) {
        const union = unionCalled(member);
        union.stability = stability;
        union.isExact = member.tag === 'unionMember';
        union.members.push(
          isItem
            ? itemMember(field.name, rule.named, member)
            : fieldMember(field.name, member, (value) => !isUnset(value, of)),
        );
      } else if (rule.tag === 'unionDiscriminator') {
        unionCalled(rule).discriminator = field.name;
      } else if (rule.tag === 'member' && rule.inner && discriminator !== undefined) {
        const check = checkOf(rule.inner, of);
        if (check) modal.push(modalCheck(field.name, discriminator, rule.argument ?? '', stability, check));
      }
    }
  }
  return [...[...unions.values()].filter(({ members }) => members.length > 0).map(unionCheck), ...modal];
}

function discriminatorOf(type: StructType): string | undefined {
  for (const field of type.byName.values()) {
    if (field.rules.some((text) => staged(parseRule(text)).rule.tag === 'discriminator')) return field.name;
  }
  return undefined;
}

const fieldOf = (struct: JsonValue | undefined, name: string) => asFields(struct)[name] as JsonValue | undefined;

function fieldMember(name: string, rule: DeclaredRule, isSet: (value: JsonValue | undefined) => boolean): Member {
  const goesWith = rule.named.memberName ?? capitalized(name);
  return { name, goesWith, isSet: (struct) => isSet(fieldOf(struct, name)) };
}

function itemMember(field: string, named: Readonly<Record<string, string>>, rule: DeclaredRule): Member {
  const shown = Object.entries(named).map(([key, value]) => `${goQuote(key)}: ${goQuote(value)}`);
  return {
    name: `${field}[{${shown.join(', ')}}]`,
    goesWith: rule.named.memberName ?? '',
    isSet: (struct) => {
      const list = fieldOf(struct, field);
      return Array.isArray(list) && list.some((item) => matches(item, named));
    },
  };
}

function unionCheck({ stability, isExact, discriminator, members }: Union): StructCheck {
  const origin = isExact ? 'union' : 'zeroOrOneOf';
  const isUnchanged = ({ value, old, hasOld }: Subject) =>
    hasOld &&
    members.every(({ isSet }) => isSet(value) === isSet(old)) &&
    (discriminator === undefined || fieldOf(value, discriminator) === fieldOf(old, discriminator));
  const find = (subject: Subject) =>
    discriminator === undefined ? counted(subject, members, isExact) : discriminated(subject, members, discriminator);
  return {
    stability,
    origin,
    find: (subject, { isUpdate }) => (isUpdate && isUnchanged(subject) ? [] : find(subject)),
  };
}

function counted({ value, at }: Subject, members: readonly Member[], isExact: boolean): FieldError[] {
  const set = members.filter(({ isSet }) => isSet(value)).map(({ name }) => name);
  const all = members.map(({ name }) => `\`${name}\``).join(', ');
  if (set.length > 1) {
    const how = isExact ? 'exactly one' : 'at most one';
    return [fieldError.invalid(at, `{${set.join(', ')}}`, `must specify ${how} of: ${all}`)];
  }
  return set.length === 0 && isExact ? [fieldError.invalid(at, '', `must specify one of: ${all}`)] : [];
}

function discriminated({ value, at }: Subject, members: readonly Member[], discriminator: string): FieldError[] {
  const chosen = fieldOf(value, discriminator) ?? '';
  return members.flatMap(({ name, goesWith, isSet }) => {
    const field = at === '' ? name : `${at}.${name}`;
    if (isSet(value) === (chosen === goesWith)) return [];
    const how = isSet(value) ? 'may only' : 'must';
    return [fieldError.invalid(field, '', `${how} be specified when \`${discriminator}\` is ${goQuote(goesWith)}`)];
  });
}

function modalCheck(
  name: string,
  discriminator: string,
  goesWith: string,
  stability: Stability,
  check: Check,
): StructCheck {
  return {
    stability,
    origin: check.origin,
    find: (subject, around) => {
      if (fieldOf(subject.value, discriminator) !== goesWith) return [];
      const part: Subject = {
        value: fieldOf(subject.value, name),
        old: fieldOf(subject.old, name),
        hasOld: subject.hasOld && fieldOf(subject.old, discriminator) === goesWith,
        at: subject.at === '' ? name : `${subject.at}.${name}`,
      };
      return around.isUpdate && isSame(part) ? [] : check.find(part, around);
    },
  };
}

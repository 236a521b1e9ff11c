import { ApiError } from './api-error.js';
import { goQuote } from './field-error.js';
import { listedMax } from './requirements-by-key.js';

/**
 * `metadata.name=web,spec.nodeName!=`: equality requirements on selectable fields. `\\` escapes `\\`, `,` and `=`. An
 * absent field equals ''. Syntax errors throw a BadRequest with the text of kube-apiserver.
 */
interface FieldRequirement {
  readonly field: string;
  readonly operator: '=' | '!=';
  readonly value: string;
}

export class FieldSelector {
  readonly isEmpty: boolean;
  /** Distinct equality requirements, for indexes. */
  readonly equalities: readonly FieldRequirement[];
  private readonly byField: ReadonlyMap<string, FieldConstraint> | undefined;
  constructor(readonly requirements: readonly FieldRequirement[]) {
    this.isEmpty = requirements.length === 0;
    this.byField = requirements.length > listedMax ? constraintsOf(requirements) : undefined;
    this.equalities = this.byField ? equalitiesOf(this.byField) : requirements.filter(isEquality);
  }

  /** `valueOf` returns the value of a field, '' if it is absent. */
  matches(valueOf: (field: string) => string): boolean {
    if (this.byField) return areMet(this.byField, valueOf);
    for (const { field, operator, value } of this.requirements) {
      if ((valueOf(field) === value) !== (operator === '=')) return false;
    }
    return true;
  }

  /** Returns the value that the field must equal; undefined if there is none. For indexes and authorization. */
  requiresExact(field: string): string | undefined {
    return this.equalities.find((requirement) => requirement.field === field)?.value;
  }

  /** Returns this selector with another equality requirement. */
  and(field: string, value: string): FieldSelector {
    return new FieldSelector([...this.requirements, { field, operator: '=', value }]);
  }

  /** Returns the same requirements on renamed fields. */
  renamed(names: Readonly<Record<string, string>>): FieldSelector {
    const name = (field: string) => (Object.hasOwn(names, field) ? names[field]! : field);
    return new FieldSelector(this.requirements.map((demand) => ({ ...demand, field: name(demand.field) })));
  }

  toString(): string {
    return this.requirements.map(({ field, operator, value }) => `${field}${operator}${escapeValue(value)}`).join(',');
  }
}

/** All requirements on one field. */
interface FieldConstraint {
  /** The required values: any value matches if empty, none if there are two. */
  readonly required: Set<string>;
  readonly denied: Set<string>;
}

/**
 * Groups the requirements of a long selector by field, so that matching costs the number of fields, not of
 * requirements.
 */
function constraintsOf(requirements: readonly FieldRequirement[]): Map<string, FieldConstraint> {
  const demands = new Map<string, FieldConstraint>();
  for (const { field, operator, value } of requirements) {
    let demand = demands.get(field);
    if (!demand) demands.set(field, (demand = { required: new Set(), denied: new Set() }));
    (operator === '=' ? demand.required : demand.denied).add(value);
  }
  return demands;
}

const isEquality = ({ operator }: FieldRequirement): boolean => operator === '=';

/** Two different values suffice to show that nothing matches. */
function equalitiesOf(demands: ReadonlyMap<string, FieldConstraint>): FieldRequirement[] {
  return [...demands].flatMap(([field, { required }]) =>
    [...required].slice(0, 2).map((value) => ({ field, operator: '=' as const, value })),
  );
}

function areMet(demands: ReadonlyMap<string, FieldConstraint>, valueOf: (field: string) => string): boolean {
  for (const [field, { required, denied }] of demands) {
    const value = valueOf(field);
    if (denied.has(value) || required.size > 1 || (required.size === 1 && !required.has(value))) return false;
  }
  return true;
}

export const everyField = new FieldSelector([]);

/** Limit on the terms of a selector, so that reading one of 3 MiB does not delay other requests. */
const termsMax = 20_000;

export function parseFieldSelector(text: string): FieldSelector {
  const terms = splitTerms(text).filter((term) => term !== '');
  if (terms.length === 0) return everyField;
  if (terms.length > termsMax) throw ApiError.badRequest(`the field selector has more than ${termsMax} terms`);
  return new FieldSelector(terms.sort().map((term) => parseTerm(term, text)));
}

/** Returns the selector for a decision before the request is handled, which rejects an invalid one. */
export function fieldSelectorIfValid(text: string): FieldSelector | undefined {
  try {
    return parseFieldSelector(text);
  } catch {
    return undefined;
  }
}

/** Fields by which almost every resource can be selected. */
export const commonSelectableFields: ReadonlySet<string> = new Set(['metadata.name', 'metadata.namespace']);

const unknownField = (field: string): string =>
  `${goQuote(field)} is not a known field selector: only "metadata.name", "metadata.namespace"`;

/** Throws if the selector uses a field that is not selectable. `refusal` returns the error text of the kind. */
export function requireSelectable(
  selector: FieldSelector,
  selectable: ReadonlySet<string> = commonSelectableFields,
  refusal: (field: string) => string = unknownField,
): void {
  for (const { field } of selector.requirements) {
    if (!selectable.has(field)) throw ApiError.badRequest(refusal(field));
  }
}

function splitTerms(text: string): string[] {
  if (!text.includes('\\')) return text.split(',');
  const terms: string[] = [];
  let start = 0;
  for (let at = 0; at < text.length; at++) {
    if (text[at] === '\\') at++;
    else if (text[at] === ',') {
      terms.push(text.slice(start, at));
      start = at + 1;
    }
  }
  terms.push(text.slice(start));
  return terms;
}

function parseTerm(term: string, whole: string): FieldRequirement {
  const equals = term.indexOf('=');
  if (equals < 0) throw ApiError.badRequest(`invalid selector: '${whole}'; can't understand '${term}'`);
  const isNegative = term[equals - 1] === '!';
  const isDouble = !isNegative && term[equals + 1] === '=';
  return {
    field: term.slice(0, isNegative ? equals - 1 : equals),
    operator: isNegative ? '!=' : '=',
    value: unescapeValue(term.slice(equals + (isDouble ? 2 : 1))),
  };
}

function unescapeValue(text: string): string {
  let value = '';
  for (let at = 0; at < text.length; at++) {
    let character = text[at]!;
    if (character === '\\') {
      character = text[++at] ?? '';
      if (character === '' || !'\\,='.includes(character)) {
        throw ApiError.badRequest(`invalid field selector: invalid escape sequence: \\${character}`);
      }
    } else if (character === ',' || character === '=') {
      throw ApiError.badRequest(`invalid field selector: unescaped character in value: ${character.charCodeAt(0)}`);
    }
    value += character;
  }
  return value;
}

function escapeValue(value: string): string {
  return value.replace(/[\\,=]/g, '\\$&');
}

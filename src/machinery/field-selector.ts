import { ApiError } from './api-error.js';
import { goQuote } from './field-error.js';
import { listedMax } from './requirements-by-key.js';

/**
 * `metadata.name=web,spec.nodeName!=`: equality on a few fields that a resource offers. `\` escapes `\`, `,` and `=`.
 * A field that the object lacks counts as ''. Mistakes throw a BadRequest with the text that clients know.
 */
export interface FieldRequirement {
  readonly field: string;
  readonly operator: '=' | '!=';
  readonly value: string;
}

export class FieldSelector {
  readonly isEmpty: boolean;
  /** The fields that must have one value: what an index can answer. Repeated requirements are left out. */
  readonly equalities: readonly FieldRequirement[];
  private readonly byField: ReadonlyMap<string, FieldDemand> | undefined;
  constructor(readonly requirements: readonly FieldRequirement[]) {
    this.isEmpty = requirements.length === 0;
    this.byField = requirements.length > listedMax ? demandsOf(requirements) : undefined;
    this.equalities = this.byField ? equalitiesOf(this.byField) : requirements.filter(isEquality);
  }

  /** `valueOf` says what the object has in a field, '' when nothing. */
  matches(valueOf: (field: string) => string): boolean {
    if (this.byField) return areMet(this.byField, valueOf);
    for (const { field, operator, value } of this.requirements) {
      if ((valueOf(field) === value) !== (operator === '=')) return false;
    }
    return true;
  }

  /** The value that the field must have, or undefined when the selector does not say. For indexes and authorization. */
  requiresExact(field: string): string | undefined {
    return this.equalities.find((requirement) => requirement.field === field)?.value;
  }

  /** This selector and one more equality. */
  and(field: string, value: string): FieldSelector {
    return new FieldSelector([...this.requirements, { field, operator: '=', value }]);
  }

  /** The same demands on fields that are called otherwise. */
  renamed(names: Readonly<Record<string, string>>): FieldSelector {
    const name = (field: string) => (Object.hasOwn(names, field) ? names[field]! : field);
    return new FieldSelector(this.requirements.map((demand) => ({ ...demand, field: name(demand.field) })));
  }

  toString(): string {
    return this.requirements.map(({ field, operator, value }) => `${field}${operator}${escapeValue(value)}`).join(',');
  }
}

/** What one field must meet: all that the requirements on it say together. */
interface FieldDemand {
  /** The only value that will do; any where empty, none where there are two. */
  readonly required: Set<string>;
  readonly denied: Set<string>;
}

/**
 * The requirements of a long selector, joined by field: an object costs the fields that are named, of which a kind
 * offers a handful, however many requirements there are.
 */
function demandsOf(requirements: readonly FieldRequirement[]): Map<string, FieldDemand> {
  const demands = new Map<string, FieldDemand>();
  for (const { field, operator, value } of requirements) {
    let demand = demands.get(field);
    if (!demand) demands.set(field, (demand = { required: new Set(), denied: new Set() }));
    (operator === '=' ? demand.required : demand.denied).add(value);
  }
  return demands;
}

const isEquality = ({ operator }: FieldRequirement): boolean => operator === '=';

/** Two values of a field say already that none will do. */
function equalitiesOf(demands: ReadonlyMap<string, FieldDemand>): FieldRequirement[] {
  return [...demands].flatMap(([field, { required }]) =>
    [...required].slice(0, 2).map((value) => ({ field, operator: '=' as const, value })),
  );
}

function areMet(demands: ReadonlyMap<string, FieldDemand>, valueOf: (field: string) => string): boolean {
  for (const [field, { required, denied }] of demands) {
    const value = valueOf(field);
    if (denied.has(value) || required.size > 1 || (required.size === 1 && !required.has(value))) return false;
  }
  return true;
}

export const everyField = new FieldSelector([]);

export function parseFieldSelector(text: string): FieldSelector {
  const terms = splitTerms(text).filter((term) => term !== '');
  if (terms.length === 0) return everyField;
  return new FieldSelector(terms.sort().map((term) => parseTerm(term, text)));
}

/** The fields that almost every resource can be selected by. */
export const commonSelectableFields: ReadonlySet<string> = new Set(['metadata.name', 'metadata.namespace']);

const unknownField = (field: string): string =>
  `${goQuote(field)} is not a known field selector: only "metadata.name", "metadata.namespace"`;

/** Throws when the selector names a field that the resource does not offer; `refusal` is how the kind says so. */
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

import { spend } from '../work.js';
import { CelType, listOf, mapOf, typeOfType, types } from '../types.js';

const isGeneric = (type: CelType): boolean => type.isGeneric;

/** The types that type parameters stand for, as far as they are known. */
export class Substitution {
  private readonly known = new Map<string, CelType>();
  /** The changes of the trial under way, to be undone. */
  private log: [name: string, before: CelType | undefined][] | undefined;

  find(type: CelType): CelType | undefined {
    return type.kind === 'param' ? this.known.get(type.name) : undefined;
  }
  private add(param: CelType, type: CelType): void {
    this.log?.push([param.name, this.known.get(param.name)]);
    this.known.set(param.name, type);
  }

  /** True if a value of type `from` may be used as `to`; only then are parameters bound. */
  assign(to: CelType, from: CelType): boolean {
    if (!to.isGeneric && !from.isGeneric) return this.isAssignable(to, from);
    return this.trial(() => this.isAssignable(to, from));
  }
  assignAll(to: readonly CelType[], from: readonly CelType[]): boolean {
    if (to.length !== from.length) return false;
    if (!to.some(isGeneric) && !from.some(isGeneric)) return this.areAssignable(to, from);
    return this.trial(() => this.areAssignable(to, from));
  }

  private trial(attempt: () => boolean): boolean {
    const log: [string, CelType | undefined][] = [];
    this.log = log;
    const isPossible = attempt();
    this.log = undefined;
    if (isPossible) return true;
    for (const [name, before] of log.reverse()) {
      if (before) this.known.set(name, before);
      else this.known.delete(name);
    }
    return false;
  }

  private areAssignable(left: readonly CelType[], right: readonly CelType[]): boolean {
    return left.length === right.length && left.every((type, index) => this.isAssignable(type, right[index]!));
  }

  private isAssignable(left: CelType, right: CelType): boolean {
    if (left === right) return true;
    spend(2);
    if (right.kind === 'param') {
      const { isValid, isKnown } = this.bind(left, right);
      if (isValid) return true;
      if (isKnown) return false;
    }
    if (left.kind === 'param') return this.bind(right, left).isValid;
    if (left.isDyn || right.isDyn || left.kind === 'error' || right.kind === 'error') return true;
    if (left.kind === 'null') return isNullable(right);
    if (right.kind === 'null') return isNullable(left);
    switch (left.kind) {
      case 'type':
        return right.kind === 'type';
      case 'opaque':
      case 'list':
      case 'map':
        return left.kind === right.kind && left.name === right.name && this.areAssignable(left.params, right.params);
      default:
        return left.kind === right.kind && left.name === right.name;
    }
  }

  /** Binds the parameter to the type, or to the more general one of it and what it was bound to. */
  private bind(type: CelType, param: CelType): { isValid: boolean; isKnown: boolean } {
    if (type.kind === 'param' && type.equals(param)) return { isValid: true, isKnown: true };
    const known = this.find(param);
    if (known) {
      if (type.kind === known.kind && type.equals(known)) return { isValid: true, isKnown: true };
      if (!this.isAssignable(type, known)) return { isValid: false, isKnown: true };
      const general = mostGeneral(type, known);
      if (this.isFreeOf(param, general)) this.add(param, general);
      return { isValid: true, isKnown: true };
    }
    if (!this.isFreeOf(param, type)) return { isValid: false, isKnown: false };
    this.add(param, type);
    return { isValid: true, isKnown: false };
  }

  /** True if the type does not contain the parameter. */
  private isFreeOf(param: CelType, type: CelType): boolean {
    if (!type.isGeneric) return true;
    spend(1);
    if (param.equals(type)) return false;
    if (type.kind === 'param') {
      const known = this.find(type);
      return !known || this.isFreeOf(param, known);
    }
    return type.params.every((part) => this.isFreeOf(param, part));
  }

  /** Returns the type with all known parameters replaced. */
  apply(type: CelType): CelType {
    return this.replaced(type, (param) => this.apply(param), undefined);
  }

  /** Returns a function that replaces all parameters: known ones, and the others by dyn. Each type is replaced once. */
  resolver(): (type: CelType) => CelType {
    const resolved = new Map<CelType, CelType>();
    const resolve = (type: CelType): CelType => {
      if (!type.isGeneric) return type;
      let result = resolved.get(type);
      if (!result) resolved.set(type, (result = this.replaced(type, resolve, types.dyn)));
      return result;
    };
    return resolve;
  }

  private replaced(type: CelType, replace: (type: CelType) => CelType, unknown: CelType | undefined): CelType {
    if (!type.isGeneric) return type;
    spend(5);
    const known = this.find(type);
    if (known) return replace(known);
    if (type.kind === 'param') return unknown ?? type;
    const params = type.params.map(replace);
    if (params.every((param, index) => param === type.params[index])) return type;
    switch (type.kind) {
      case 'list':
        return listOf(params[0]!);
      case 'map':
        return mapOf(params[0]!, params[1]!);
      case 'type':
        return typeOfType(params[0]!);
      default:
        return new CelType(type.kind, type.name, params, type.isWrapper);
    }
  }
}

const nullableKinds = new Set(['opaque', 'struct', 'any', 'duration', 'timestamp', 'null']);
const isNullable = (type: CelType): boolean => nullableKinds.has(type.kind) || type.isWrapper;

export const mostGeneral = (left: CelType, right: CelType): CelType => (isAsGeneral(left, right) ? left : right);

function isAsGeneral(left: CelType, right: CelType): boolean {
  if (left === right) return true;
  spend(1);
  if (left.isDyn || left.kind === 'param') return true;
  if (right.isDyn || right.kind === 'param' || left.kind !== right.kind) return false;
  switch (left.kind) {
    case 'type':
      return true;
    case 'opaque':
    case 'list':
    case 'map':
      return (
        left.name === right.name &&
        left.params.length === right.params.length &&
        left.params.every((param, index) => isAsGeneral(param, right.params[index]!))
      );
    default:
      return left.equals(right);
  }
}

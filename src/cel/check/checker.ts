import type { Message, Source } from '../source.js';
import type { CallExpr, ComprehensionExpr, Expr, ListExpr, MapExpr, SelectExpr, StructExpr } from '../syntax/ast.js';
import { QualifiedNames } from '../syntax/ast.js';
import type { Parsed } from '../syntax/parser.js';
import { CelType, formatCall, formatType, listOf, mapOf, optionalOf, typeOfType, typeParam, types } from '../types.js';
import { typeOf } from '../values/value.js';
import { Substitution, mostGeneral } from './assignability.js';
import { expressionTooLarge } from '../work.js';
import type { Declarations, FunctionDeclaration, Overload } from './declarations.js';

/** A tree with the types of its expressions and the overloads of its calls, by the ids of the expressions. */
export interface Checked {
  readonly expr: Expr;
  readonly offsets: readonly number[];
  readonly types: readonly CelType[];
  readonly overloads: ReadonlyMap<number, readonly string[]>;
  /** The variables and types that selections name, like `authorizer.requestResource`. */
  readonly qualified: ReadonlyMap<number, string>;
  /** Names of the variables that are read. */
  readonly variables: ReadonlySet<string>;
  /**
   * True if a type follows only from its use, so that values may have another one: `dyn(1).orValue('a')` is a string for
   * the checker, and 1.
   */
  readonly hasGuessedTypes: boolean;
}

/** Finds the type of every expression. The source has errors after it if there are any. */
export function check(source: Source, parsed: Parsed, declarations: Declarations): Checked {
  return new Checker(source, parsed, declarations).run();
}

/** Types of real expressions have ten names at most: structs count as one. */
const typeSizeMax = 1000;

class Checker {
  private readonly types: CelType[] = [];
  private readonly overloads = new Map<number, readonly string[]>();
  private readonly qualified = new Map<number, string>();
  private readonly variables = new Set<string>();
  private readonly names = new QualifiedNames();
  private readonly substitution = new Substitution();
  /** The types of the variables of macros by name; the innermost is the last one. */
  private readonly locals = new Map<string, CelType[]>();
  private paramCount = 0;
  private hasGuessedTypes = false;
  /** True until the first macro: later comparisons were never refused. */
  private refusesCrossTypes: boolean;

  constructor(
    private readonly source: Source,
    private readonly parsed: Parsed,
    private readonly declarations: Declarations,
  ) {
    this.refusesCrossTypes = !declarations.comparesAcrossTypes;
  }

  run(): Checked {
    this.check(this.parsed.expr);
    const resolved = this.substitution.resolver();
    this.types.forEach((type, id) => (this.types[id] = resolved(type)));
    const { expr, offsets } = this.parsed;
    return {
      expr,
      offsets,
      types: this.types,
      overloads: this.overloads,
      qualified: this.qualified,
      variables: this.variables,
      hasGuessedTypes: this.hasGuessedTypes,
    };
  }

  private report(id: number, message: Message): void {
    this.source.report(this.parsed.offsets[id]!, message);
  }
  private undeclared(id: number, name: string): void {
    this.report(id, `undeclared reference to '${name}' (in container '')`);
  }
  private mismatch(id: number, expected: CelType, actual: CelType): void {
    this.report(id, () => `expected type '${formatType(expected)}' but found '${formatType(actual)}'`);
  }

  private check(expr: Expr): CelType {
    const type = this.typeOf(expr);
    if (type.size > typeSizeMax) throw expressionTooLarge;
    return (this.types[expr.id] = type);
  }
  private known(expr: Expr): CelType {
    return this.types[expr.id] ?? types.error;
  }

  private typeOf(expr: Expr): CelType {
    switch (expr.kind) {
      case 'literal':
        return typeOf(expr.value);
      case 'ident': {
        const type = this.findIdent(expr.name);
        if (!type) this.undeclared(expr.id, expr.name);
        return type ?? types.error;
      }
      case 'select':
        return this.checkSelect(expr);
      case 'call':
        return this.checkCall(expr);
      case 'list':
        return this.checkList(expr);
      case 'map':
        return this.checkMap(expr);
      case 'struct':
        return this.checkStruct(expr);
      case 'comprehension':
        return this.checkComprehension(expr);
      case 'error':
        return types.error;
    }
  }

  private findIdent(name: string): CelType | undefined {
    const plain = name.startsWith('.') ? name.slice(1) : name;
    const local = this.locals.get(plain)?.at(-1);
    if (local) return local;
    const variable = this.declarations.variables.get(plain);
    if (variable) {
      this.variables.add(plain);
      return variable;
    }
    const { typeNames, provider, messages, constants } = this.declarations;
    const named = typeNames.get(plain) ?? provider?.findStruct(plain) ?? messages.get(plain)?.type;
    if (named) return typeOfType(named);
    const constant = constants.get(plain);
    return constant === undefined ? undefined : typeOf(constant);
  }

  private findFunction(name: string): FunctionDeclaration | undefined {
    return this.declarations.functions.get(name.startsWith('.') ? name.slice(1) : name);
  }

  private checkSelect(expr: SelectExpr): CelType {
    const name = this.names.of(expr);
    const type = name === undefined ? undefined : this.findIdent(name);
    if (type) {
      this.qualified.set(expr.id, name!.startsWith('.') ? name!.slice(1) : name!);
      return type;
    }
    const result = this.fieldType(expr, expr.operand, expr.field, false);
    return expr.isTest ? types.bool : this.substitution.apply(result);
  }

  private fieldType(expr: Expr, operand: Expr, field: string, isOptional: boolean): CelType {
    const operandType = this.substitution.apply(this.check(operand));
    const target = operandType.isOptional ? operandType.params[0]! : operandType;
    const result = this.fieldOf(expr, target, field);
    return operandType.isOptional || isOptional ? optionalOf(result) : result;
  }

  private fieldOf(expr: Expr, target: CelType, field: string): CelType {
    switch (target.kind) {
      case 'map':
        return target.params[1]!;
      case 'struct':
        return this.structField(expr.id, target.name, field) ?? types.error;
      case 'param':
        this.substitution.assign(types.dyn, target);
        return types.dyn;
      default:
        if (!target.isDyn && target.kind !== 'error')
          this.report(expr.id, () => `type '${formatType(target)}' does not support field selection`);
        return types.dyn;
    }
  }

  private structField(id: number, struct: string, field: string): CelType | undefined {
    const { provider, messages } = this.declarations;
    const message = messages.get(struct);
    if (!message && !provider?.findStruct(struct)) {
      this.report(id, `unexpected failed resolution of '${struct}'`);
      return undefined;
    }
    const type = message ? message.fields.get(field) : provider!.findField(struct, field);
    if (!type) this.report(id, `undefined field '${field}'`);
    return type;
  }

  private checkCall(expr: CallExpr): CelType {
    if (expr.fn === '_?._') return this.checkOptionalSelect(expr);
    for (const arg of expr.args) this.check(arg);
    if (expr.target) {
      const prefix = this.names.of(expr.target);
      const name = prefix === undefined ? undefined : `${prefix}.${expr.fn}`;
      const namespaced = name === undefined ? undefined : this.findFunction(name);
      if (namespaced) {
        expr.target = undefined;
        expr.fn = namespaced.name;
        return this.resolve(expr, namespaced);
      }
      this.check(expr.target);
    }
    const declared = this.findFunction(expr.fn);
    if (!declared) {
      this.undeclared(expr.id, expr.fn);
      return types.error;
    }
    if (!expr.target) expr.fn = declared.name;
    return this.resolve(expr, declared);
  }

  private checkOptionalSelect(expr: CallExpr): CelType {
    const [operand, field] = expr.args as [Expr, Expr];
    const name = field.kind === 'literal' ? (field.value as string) : '';
    const result = this.fieldType(expr, operand, name, true);
    this.types[field.id] = types.string;
    this.overloads.set(expr.id, ['select_optional_field']);
    return this.substitution.apply(result);
  }

  private resolve(call: CallExpr, declared: FunctionDeclaration): CelType {
    const isMember = call.target !== undefined;
    const argTypes = (call.target ? [call.target, ...call.args] : call.args).map((arg) => this.known(arg));
    if (call.fn === '_&&_' || call.fn === '_||_') return this.resolveLogical(call, declared, argTypes);
    const ids: string[] = [];
    let result: CelType | undefined;
    for (const candidate of declared.overloads) {
      if (candidate.isMember !== isMember || candidate.params.length !== argTypes.length) continue;
      if (this.refusesCrossTypes && isCrossTypeComparison(candidate)) continue;
      const [params, candidateResult] = this.instantiate(candidate);
      if (!this.substitution.assignAll(argTypes, params)) continue;
      ids.push(candidate.id);
      const applied = this.substitution.apply(candidateResult);
      if (candidate.result.isGeneric && !applied.isDyn) this.hasGuessedTypes ||= argTypes.some(this.isVague);
      if (!result) result = applied;
      else if (!result.isDyn && !applied.equals(result)) result = types.dyn;
    }
    if (!result) {
      this.report(call.id, () => {
        const shown = argTypes.map((type) => this.substitution.resolver()(type));
        return `found no matching overload for '${declared.name}' applied to '${formatCall(shown, isMember)}'`;
      });
      return types.error;
    }
    this.overloads.set(call.id, ids);
    return result;
  }

  /** True if values of the type may have another one, or be null where the checker expects an optional. */
  private readonly isVague = (type: CelType): boolean => {
    const known = type.isGeneric ? this.substitution.apply(type) : type;
    return known.isDyn || known.kind === 'null' || known.isWrapper || known.params.some(this.isVague);
  };

  private resolveLogical(call: CallExpr, declared: FunctionDeclaration, argTypes: readonly CelType[]): CelType {
    let isBool = true;
    argTypes.forEach((type, index) => {
      if (this.substitution.assign(type, types.bool)) return;
      this.mismatch(call.args[index]!.id, types.bool, type);
      isBool = false;
    });
    if (!isBool) return types.error;
    this.overloads.set(call.id, [declared.overloads[0]!.id]);
    return types.bool;
  }

  /** The parameters and the result of an overload, with type parameters of this call. */
  private instantiate(declared: Overload): [params: readonly CelType[], result: CelType] {
    if (!isGeneric(declared)) return [declared.params, declared.result];
    const own = new Map<string, CelType>();
    const rename = (type: CelType): CelType => {
      if (type.kind === 'param') {
        let param = own.get(type.name);
        if (!param) own.set(type.name, (param = this.freshParam()));
        return param;
      }
      return type.params.length === 0
        ? type
        : new CelType(type.kind, type.name, type.params.map(rename), type.isWrapper);
    };
    return [declared.params.map(rename), rename(declared.result)];
  }

  private freshParam(): CelType {
    return typeParam(`_var${this.paramCount++}`);
  }

  private checkList(expr: ListExpr): CelType {
    let elementType: CelType | undefined;
    const optionals = new Set(expr.optionals);
    expr.elements.forEach((element, index) => {
      const type = this.checkMaybeOptional(element, optionals.has(index));
      elementType = this.join(elementType, type);
    });
    return listOf(elementType ?? this.freshParam());
  }

  private checkMap(expr: MapExpr): CelType {
    let keyType: CelType | undefined;
    let valueType: CelType | undefined;
    for (const { key, value, isOptional } of expr.entries) {
      keyType = this.join(keyType, this.check(key));
      valueType = this.join(valueType, this.checkMaybeOptional(value, isOptional));
    }
    return mapOf(keyType ?? this.freshParam(), valueType ?? this.freshParam());
  }

  /** The type of a value; with `isOptional`, of what the optional holds. */
  private checkMaybeOptional(expr: Expr, isOptional: boolean): CelType {
    const type = this.check(expr);
    if (!isOptional) return type;
    if (type.isOptional) return type.params[0]!;
    if (!type.isDyn) this.mismatch(expr.id, optionalOf(type), type);
    return type;
  }

  /** The type of elements of both types; validators refuse those that differ. */
  private join(previous: CelType | undefined, current: CelType): CelType {
    if (!previous) return current;
    return this.substitution.assign(previous, current) ? mostGeneral(previous, current) : types.dyn;
  }

  private checkStruct(expr: StructExpr): CelType {
    const name = expr.name.startsWith('.') ? expr.name.slice(1) : expr.name;
    const type = this.findIdent(expr.name);
    if (!type) {
      this.undeclared(expr.id, expr.name);
      return types.error;
    }
    let result: CelType = types.error;
    let fieldsOf = name;
    if (type.kind !== 'type') this.report(expr.id, `'${formatType(type)}' is not a type`);
    else if (this.declarations.messages.has(name)) result = type.params[0]!;
    else if (type.params[0]?.kind !== 'struct') this.report(expr.id, `'${type.params[0]!.name}' is not a message type`);
    else {
      result = type.params[0];
      fieldsOf = result.name;
    }
    for (const field of expr.fields) {
      const valueType = this.checkMaybeOptional(field.value, field.isOptional);
      const fieldType = this.structField(field.id, fieldsOf, field.name);
      if (!fieldType || this.substitution.assign(fieldType, valueType)) continue;
      const [expected, actual] = [formatType(fieldType), formatType(valueType)];
      this.report(field.id, `expected type of field '${field.name}' is '${expected}' but provided type is '${actual}'`);
    }
    return result;
  }

  private checkComprehension(expr: ComprehensionExpr): CelType {
    const range = this.substitution.apply(this.check(expr.range));
    const accuType = this.check(expr.init);
    this.refusesCrossTypes = false;
    const [first, second] = this.variableTypes(expr, range);
    const result = this.withLocal(expr.accu, accuType, () => {
      this.withLocal(expr.variable, first, () => this.checkLoop(expr, accuType, second));
      return this.check(expr.result);
    });
    return this.substitution.apply(result);
  }

  private checkLoop(expr: ComprehensionExpr, accuType: CelType, second: CelType): void {
    const checkBody = (): void => {
      this.assertType(expr.condition, types.bool);
      this.assertType(expr.step, accuType);
    };
    if (expr.variable2 === undefined) checkBody();
    else this.withLocal(expr.variable2, second, checkBody);
  }

  private withLocal<T>(name: string, type: CelType, check: () => T): T {
    const known = this.locals.get(name);
    if (known) known.push(type);
    else this.locals.set(name, [type]);
    const result = check();
    this.locals.get(name)!.pop();
    return result;
  }

  private variableTypes(expr: ComprehensionExpr, range: CelType): [CelType, CelType] {
    const hasTwo = expr.variable2 !== undefined;
    switch (range.kind) {
      case 'list':
        return hasTwo ? [types.int, range.params[0]!] : [range.params[0]!, types.dyn];
      case 'map':
        return [range.params[0]!, range.params[1]!];
      case 'dyn':
      case 'error':
      case 'param':
        this.substitution.assign(types.dyn, range);
        return [types.dyn, types.dyn];
      default:
        this.report(
          expr.range.id,
          () =>
            `expression of type '${formatType(range)}' cannot be range of a comprehension (must be list, map, or dynamic)`,
        );
        return [types.error, types.error];
    }
  }

  private assertType(expr: Expr, expected: CelType): void {
    const actual = this.check(expr);
    if (!this.substitution.assign(expected, actual)) this.mismatch(expr.id, expected, actual);
  }
}

const isGeneric = ({ params, result }: Overload): boolean =>
  result.isGeneric || params.some((param) => param.isGeneric);

const comparisons = /^(less|less_equals|greater|greater_equals)_(int64|uint64|double)_(int64|uint64|double)$/;
const isCrossTypeComparison = (declared: Overload): boolean => comparisons.test(declared.id);

import { createHash } from 'node:crypto';
import { json } from '../codec/encodings.js';
import type { ApiOperation } from './operations.js';
import type { ApiParameter } from './parameters.js';
import type { ApiPath } from './paths.js';
import { gvkOf } from './schemas.js';
import type { Steps } from '../std/steps.js';
import type { Schema } from './type-schemas.js';

/** An OpenAPI 3.0 document. */
export interface OpenApiV3Document {
  readonly openapi: string;
  readonly info: ApiInfo;
  readonly paths: Readonly<Record<string, object>>;
  readonly components: Readonly<Record<string, unknown>>;
}

/** An OpenAPI 2.0 (Swagger) document. */
export interface OpenApiV2Document {
  readonly swagger: string;
  readonly info: ApiInfo;
  readonly paths: Readonly<Record<string, object>>;
  readonly definitions: Readonly<Record<string, Schema>>;
  readonly parameters: Readonly<Record<string, object>>;
  readonly securityDefinitions: object;
  readonly security: readonly object[];
}

export interface ApiInfo {
  readonly title: string;
  readonly version: string;
}

const security = { BearerToken: { type: 'apiKey', name: 'authorization', in: 'header' } };
const texts = { 200: 'OK', 201: 'Created', 202: 'Accepted' } as const;
const unauthorized = { '401': { description: 'Unauthorized' } };

/** Computes an OpenAPI 3.0 document. Documents of custom kinds have no security schemes. */
export function* openApiV3(
  info: ApiInfo,
  paths: readonly ApiPath[],
  schemas: Record<string, Schema>,
  { isCustom = false } = {},
): Steps<OpenApiV3Document> {
  return {
    openapi: '3.0.0',
    info,
    paths: yield* items(paths, operationV3, eachOnce(parameterV3)),
    components: {
      ...(Object.keys(schemas).length > 0 && { schemas }),
      ...(!isCustom && { securitySchemes: security }),
    },
  };
}

function operationV3(operation: ApiOperation, parameters: readonly object[]) {
  const content = (mediaTypes: readonly string[], schema: Schema) =>
    Object.fromEntries([...mediaTypes].sort().map((mediaType) => [mediaType, { schema }]));
  const { body, consumes = [] } = operation;
  return {
    ...(parameters.length > 0 && { parameters }),
    ...(body && { requestBody: { content: content(consumes, body.schema), ...(body.required && { required: true }) } }),
    responses: responses(operation, { content: content(operation.produces, operation.answer) }),
  };
}

function parameterV3({ name, in: location, type }: ApiParameter) {
  return { name, in: location, ...(location === 'path' && { required: true }), schema: { type, uniqueItems: true } };
}

export function* openApiV2(
  info: ApiInfo,
  paths: readonly ApiPath[],
  schemas: Record<string, Schema>,
): Steps<OpenApiV2Document> {
  const shared = new SharedParameters();
  const parameterV2 = eachOnce(({ name, in: location, type }) => {
    const parameter = { uniqueItems: true, type, name, in: location, ...(location === 'path' && { required: true }) };
    return inlined.has(name) ? parameter : shared.refer(parameter);
  });
  return {
    swagger: '2.0',
    info,
    paths: yield* items(paths, (operation, parameters) => operationV2(operation, parameters, shared), parameterV2),
    definitions: schemas,
    parameters: shared.all(),
    securityDefinitions: security,
    security: [{ BearerToken: [] }],
  };
}

/** Parameters that clients look for in the operation itself, without following references. */
const inlined: ReadonlySet<string> = new Set(['dryRun', 'fieldValidation', 'name']);

function operationV2(operation: ApiOperation, parameters: readonly object[], shared: SharedParameters) {
  const { body, consumes, produces, answer } = operation;
  const own = body ? [bodyV2(body, shared), ...parameters] : parameters;
  return {
    ...(consumes && { consumes }),
    produces,
    schemes: ['https'],
    ...(own.length > 0 && { parameters: own }),
    responses: responses(operation, { schema: answer }),
  };
}

/** Returns a reference for bodies of the API machinery, which many paths share; others occur only once or twice. */
function bodyV2({ schema, required }: NonNullable<ApiOperation['body']>, shared: SharedParameters): object {
  const parameter = { name: 'body', in: 'body', ...(required && { required: true }), schema };
  const { $ref }: { readonly $ref?: unknown } = schema;
  return String($ref).includes('.apimachinery.') ? shared.refer(parameter) : parameter;
}

/** Parameters that several operations refer to, named with a hash of their content. */
class SharedParameters {
  private readonly byText = new Map<string, { readonly name: string; readonly parameter: object }>();

  refer(parameter: { readonly name: string }): object {
    const text = json.encode(parameter).toString();
    let known = this.byText.get(text);
    if (!known) {
      const hash = createHash('sha256').update(text).digest().subarray(0, 6).toString('base64url');
      this.byText.set(text, (known = { name: `${parameter.name}-${hash}`, parameter }));
    }
    return { $ref: `#/parameters/${known.name}` };
  }

  all(): Record<string, object> {
    const named = [...this.byText.values()].map(({ name, parameter }) => [name, parameter] as const);
    return Object.fromEntries(named.sort(([a], [b]) => (a < b ? -1 : 1)));
  }
}

function responses({ codes }: ApiOperation, answer: object) {
  return {
    ...Object.fromEntries(codes.map((code) => [code, { description: texts[code], ...answer }])),
    ...unauthorized,
  };
}

/** Computes path items. Parameters common to all operations of a path are moved to the path. */
function* items(
  paths: readonly ApiPath[],
  rest: (operation: ApiOperation, parameters: readonly object[]) => object,
  encode: (parameter: ApiParameter) => object,
): Steps<Record<string, object>> {
  const entries: (readonly [string, object])[] = [];
  for (const { path, operations } of paths) {
    const [first, ...others] = operations.map(({ parameters }) => new Set(parameters.map(keyOf)));
    const common = new Set([...(first ?? [])].filter((key) => others.every((keys) => keys.has(key))));
    const item: Record<string, unknown> = {};
    for (const operation of operations) {
      const { method, id, tag, action, gvk, parameters } = operation;
      const own = sorted(parameters.filter((parameter) => !common.has(keyOf(parameter)))).map(encode);
      item[method] = {
        tags: [tag],
        operationId: id,
        ...rest(operation, own),
        ...(action !== undefined && { 'x-kubernetes-action': action }),
        ...(gvk && { 'x-kubernetes-group-version-kind': gvkOf(gvk) }),
      };
    }
    const shared = sorted((operations[0]?.parameters ?? []).filter((parameter) => common.has(keyOf(parameter))));
    entries.push([path, { ...item, ...(shared.length > 0 && { parameters: shared.map(encode) }) }]);
    yield;
  }
  return Object.fromEntries(entries);
}

/** Memoizes `encode`: a few dozen parameters occur thousands of times. */
function eachOnce(encode: (parameter: ApiParameter) => object): (parameter: ApiParameter) => object {
  const encoded = new Map<string, object>();
  return (parameter) => {
    const key = `${keyOf(parameter)} ${parameter.type}`;
    let known = encoded.get(key);
    if (!known) encoded.set(key, (known = encode(parameter)));
    return known;
  };
}

function keyOf({ name, in: location }: ApiParameter): string {
  return `${name} ${location}`;
}

/** Sorts by name, then by location (path before query). */
function sorted(parameters: readonly ApiParameter[]): ApiParameter[] {
  return [...parameters].sort((a, b) => (a.name < b.name || (a.name === b.name && a.in < b.in) ? -1 : 1));
}

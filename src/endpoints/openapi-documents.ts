import { createHash } from 'node:crypto';
import { json } from '../codec/encodings.js';
import type { ApiOperation } from './openapi-operations.js';
import type { ApiParameter } from './openapi-parameters.js';
import type { ApiPath } from './openapi-paths.js';
import { gvkOf } from './openapi-schemas.js';
import type { Steps } from '../std/steps.js';
import type { Schema } from './openapi-type-schemas.js';

/** As it is sent: whoever encodes one needs to know no more. */
export interface OpenApiV3Document {
  readonly openapi: string;
  readonly info: ApiInfo;
  readonly paths: Readonly<Record<string, object>>;
  readonly components: Readonly<Record<string, unknown>>;
}

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

/** What OpenAPI 2.0 and 3.0 make of the same operations. */
const security = { BearerToken: { type: 'apiKey', name: 'authorization', in: 'header' } };
const texts = { 200: 'OK', 201: 'Created', 202: 'Accepted' } as const;
const unauthorized = { '401': { description: 'Unauthorized' } };

/** Without how clients prove who they are, where the document is not of the server's own kinds. */
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

function parameterV3({ name, in: place, type }: ApiParameter) {
  return { name, in: place, ...(place === 'path' && { required: true }), schema: { type, uniqueItems: true } };
}

export function* openApiV2(
  info: ApiInfo,
  paths: readonly ApiPath[],
  schemas: Record<string, Schema>,
): Steps<OpenApiV2Document> {
  const shared = new SharedParameters();
  const parameterV2 = eachOnce(({ name, in: place, type }) => {
    const parameter = { uniqueItems: true, type, name, in: place, ...(place === 'path' && { required: true }) };
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

/** Clients look for these on the operation itself, and follow no reference. */
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

/** Bodies of the API machinery itself are the same at many paths; the others are as many as there are kinds. */
function bodyV2({ schema, required }: NonNullable<ApiOperation['body']>, shared: SharedParameters): object {
  const parameter = { name: 'body', in: 'body', ...(required && { required: true }), schema };
  return String(schema['$ref']).includes('.apimachinery.') ? shared.refer(parameter) : parameter;
}

/** Parameters that are said once, named so that those which differ do not get in each other's way. */
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

/** Parameters that all operations of a path have are said once, of the path. */
function* items(
  paths: readonly ApiPath[],
  rest: (operation: ApiOperation, parameters: readonly object[]) => object,
  parameter: (given: ApiParameter) => object,
): Steps<Record<string, object>> {
  const entries: (readonly [string, object])[] = [];
  for (const { path, operations } of paths) {
    const [first, ...others] = operations.map(({ parameters }) => new Set(parameters.map(keyOf)));
    const common = new Set([...(first ?? [])].filter((key) => others.every((keys) => keys.has(key))));
    const item: Record<string, unknown> = {};
    for (const operation of operations) {
      const { method, id, tag, action, gvk, parameters } = operation;
      const own = sorted(parameters.filter((given) => !common.has(keyOf(given)))).map(parameter);
      item[method] = {
        tags: [tag],
        operationId: id,
        ...rest(operation, own),
        ...(action !== undefined && { 'x-kubernetes-action': action }),
        ...(gvk && { 'x-kubernetes-group-version-kind': gvkOf(gvk) }),
      };
    }
    const shared = sorted((operations[0]?.parameters ?? []).filter((given) => common.has(keyOf(given))));
    if (shared.length > 0) item['parameters'] = shared.map(parameter);
    entries.push([path, item]);
    yield;
  }
  return Object.fromEntries(entries);
}

/** A few dozen parameters stand in thousands of places. */
function eachOnce(make: (given: ApiParameter) => object): (given: ApiParameter) => object {
  const made = new Map<string, object>();
  return (given) => {
    const key = `${keyOf(given)} ${given.type}`;
    let known = made.get(key);
    if (!known) made.set(key, (known = make(given)));
    return known;
  };
}

function keyOf({ name, in: place }: ApiParameter): string {
  return `${name} ${place}`;
}

/** By name; of those with one name the one in the path first. */
function sorted(parameters: readonly ApiParameter[]): ApiParameter[] {
  return [...parameters].sort((a, b) => (a.name < b.name || (a.name === b.name && a.in < b.in) ? -1 : 1));
}

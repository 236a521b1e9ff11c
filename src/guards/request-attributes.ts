import type { AuthorizationAttributes } from '../auth/authorizer.js';
import { fieldSelectorIfValid, type FieldSelector } from '../machinery/field-selector.js';
import type { RequestInfo } from '../machinery/request-info.js';
import type { UserInfo } from '../machinery/user-info.js';

/** Attributes of an HTTP request. Its selectors are parsed only if an authorizer reads them. */
export class RequestAttributes implements AuthorizationAttributes {
  readonly verb: string;
  readonly isResourceRequest: boolean;
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
  readonly path: string;

  constructor(
    readonly user: UserInfo,
    private readonly info: RequestInfo,
  ) {
    this.verb = info.verb;
    this.isResourceRequest = info.isResourceRequest;
    this.group = info.group;
    this.version = info.version;
    this.resource = info.resource;
    this.subresource = info.subresource;
    this.namespace = info.namespace;
    this.name = info.name;
    this.path = info.path;
  }

  get fieldSelector(): FieldSelector | undefined {
    if (!collectionVerbs.includes(this.verb)) return undefined;
    return fieldSelectorIfValid(this.info.query.first('fieldSelector') ?? '');
  }
}

const collectionVerbs: readonly string[] = ['list', 'watch', 'deletecollection'];

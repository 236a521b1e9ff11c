import { Module } from '@nestjs/common';
import { ApiextensionsGroup } from './apiextensions.group.js';

@Module({ providers: [{ provide: ApiextensionsGroup, useFactory: () => new ApiextensionsGroup() }] })
export class ApiextensionsModule {}

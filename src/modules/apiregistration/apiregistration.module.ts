import { Module } from '@nestjs/common';
import { ApiregistrationGroup } from './apiregistration.group.js';

@Module({ providers: [{ provide: ApiregistrationGroup, useFactory: () => new ApiregistrationGroup() }] })
export class ApiregistrationModule {}

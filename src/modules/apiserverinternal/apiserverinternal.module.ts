import { Module } from '@nestjs/common';
import { ApiserverInternalGroup } from './apiserverinternal.group.js';

@Module({ providers: [{ provide: ApiserverInternalGroup, useFactory: () => new ApiserverInternalGroup() }] })
export class ApiserverInternalModule {}

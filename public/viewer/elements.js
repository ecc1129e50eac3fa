// For pages of others: `<script type="module" src="…/viewer/elements.js">` and the elements work.
import { defineElements } from './define.js'

defineElements()

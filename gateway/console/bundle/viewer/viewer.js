// The viewer of the API's description: Swagger UI, as its authors bundle it, and its style sheet.

import "swagger-ui-dist/swagger-ui.css";
import SwaggerUI from "swagger-ui-dist/swagger-ui-es-bundle.js";

export default SwaggerUI;

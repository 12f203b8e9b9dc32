import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.apache.avro.NameValidator;
import org.apache.avro.Schema;
import org.apache.avro.SchemaCompatibility;

/**
 * Answers each line of standard input with what Avro itself says. {"schema", "references"}: how a new schema is printed. {"reader",
 * "writer"}: why a stored schema cannot read another. {"error"} if Avro refuses.
 */
public final class AvroOracle {
  private static final ObjectMapper JSON = new ObjectMapper();

  public static void main(String[] arguments) throws Exception {
    BufferedReader questions = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    PrintStream answers = new PrintStream(System.out, false, StandardCharsets.UTF_8);
    for (String line = questions.readLine(); line != null; line = questions.readLine()) {
      ObjectNode answer = JSON.createObjectNode();
      try {
        answer(JSON.readTree(line), answer);
      } catch (RuntimeException refusal) {
        answer.removeAll();
        answer.put("error", String.valueOf(refusal.getMessage()));
      }
      answers.println(JSON.writeValueAsString(answer));
    }
    answers.flush();
  }

  private static void answer(JsonNode question, ObjectNode answer) {
    if (question.has("schema")) {
      Schema.Parser parser = new Schema.Parser(NameValidator.STRICT_VALIDATOR);
      List<Schema> references = new ArrayList<>();
      question.get("references").forEach(text -> references.add(parser.parse(text.textValue())));
      Schema schema = parser.parse(question.get("schema").textValue());
      answer.put("canonical", schema.toString(references, false));
      answer.put("resolved", schema.toString());
    } else {
      ArrayNode differences = answer.putArray("differences");
      SchemaCompatibility.checkReaderWriterCompatibility(stored(question.get("reader")), stored(question.get("writer")))
          .getResult()
          .getIncompatibilities()
          .forEach(it -> differences.addArray().add(it.getType().name()).add(it.getLocation()).add(it.getMessage()));
    }
  }

  private static Schema stored(JsonNode text) {
    return new Schema.Parser(NameValidator.NO_VALIDATION).setValidateDefaults(false).parse(text.textValue());
  }
}

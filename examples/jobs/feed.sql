CREATE STREAM placed (id BIGINT, article VARCHAR(9), amount INTEGER, placed TIMESTAMP);
CREATE PUMP orders AS INSERT INTO placed
  SELECT STREAM id, article, amount, o.ROWTIME AS placed FROM Orders AS o;

CREATE STREAM paid (orderId BIGINT, "sum" DOUBLE, paid TIMESTAMP);
CREATE PUMP payments AS INSERT INTO paid
  SELECT STREAM orderId, "sum", p.ROWTIME AS paid FROM Payments AS p;
